//! WooCommerce: the order of the REST API (`wc/v3`), which the topics `order.…` send.
//!
//! All sums of lines are without tax, and have their tax beside them. `subtotal` is before discounts, `total` after
//! them. Fees are lines of their own kind, and no goods. WooCommerce has no gift cards of its own: those of a plugin
//! count as goods when they are bought, and how much was paid with them is unknown.
//!
//! A refund in an order has only its sum, which is negative. So a part refund credits only rules that read a sum.

use super::super::event::Ignored;
use super::super::order::Payment;
use super::super::table::{
    Attributes, BodyKind, BodyTable, LineTable, OrderTable, RefundTable, SumTable, Table,
};

pub(super) static TABLE: Table = Table {
    is_minor: false,
    bodies: &[
        BodyTable { when: &["id", "status", "line_items"], kind: BodyKind::Order, at: "" },
        BodyTable { when: &["action", "arg?"], kind: BodyKind::Ignored(Ignored::Action), at: "" },
        // The body of `order.deleted`.
        BodyTable { when: &["#1", "id"], kind: BodyKind::Ignored(Ignored::Deleted), at: "" },
    ],
    order: OrderTable {
        id: &["id"],
        number: &["number", "id"],
        currency: &["currency"],
        created: &["date_created_gmt"],
        email: &["billing.email"],
        first_name: &["billing.first_name"],
        last_name: &["billing.last_name"],
        name: &[],
        language: &[],
        status: &["status"],
        payments: &[
            (Payment::Cancelled, &["status=cancelled", "status=trash"]),
            (Payment::Refunded, &["status=refunded"]),
            (Payment::Draft, &["status=checkout-draft", "status=auto-draft"]),
            (Payment::Paid, &["status=processing", "status=completed"]),
        ],
        test: &[],
        attributes: &[Attributes { at: "meta_data", name: "key", text: "value" }],
    },
    sums: SumTable {
        total: &["+total"],
        goods_with_tax: &["+line_items[].subtotal +line_items[].subtotal_tax"],
        goods_without_tax: &["+line_items[].subtotal"],
        discounted_with_tax: &["+line_items[].total +line_items[].total_tax"],
        discounted_without_tax: &["+line_items[].total"],
        shipping_with_tax: &["+shipping_total +shipping_tax"],
        shipping_without_tax: &["+shipping_total"],
        gift_cards: &[],
    },
    lines: LineTable {
        at: "line_items[]",
        id: &["id"],
        sku: &["sku"],
        products: &["product_id", "variation_id"],
        title: &["name"],
        quantity: &["quantity"],
        gift_card: &[],
        tip: &[],
        deduction: &["total<0"],
        attributes: &[Attributes { at: "meta_data", name: "key", text: "value" }],
    },
    refunds: RefundTable {
        at: Some("refunds[]"),
        order: &[],
        id: &["id"],
        lines: "",
        line: &[],
        quantity: &[],
        sum: &["-total"],
        currency: &[],
        whole: &[],
    },
};
