//! Shopify: the order of the REST Admin API, which the topics `orders/…` send, and the refund of `refunds/create`.
//!
//! All amounts are in the currency of the shop. With `taxes_included`, prices include tax. `subtotal_price` is the goods
//! after discounts, `total_line_items_price` the goods before them. Neither has shipping or tips. The tax of the goods
//! is the sum of their tax lines. The body does not tell how much was paid with gift cards.
//!
//! The transactions of a refund may be in the currency that the buyer saw.
//!
//! A gift card that the buyer bought, a line with `gift_card`, has no tax and no discount. A line with
//! `tip_payment_gateway`, even if null, is a tip.

use super::super::event::Ignored;
use super::super::order::Payment;
use super::super::table::{
    Attributes, BodyKind, BodyTable, LineTable, OrderTable, RefundTable, SumTable, Table,
};

pub(super) static TABLE: Table = Table {
    is_minor: false,
    bodies: &[
        BodyTable { when: &["order_id", "refund_line_items"], kind: BodyKind::Refund, at: "" },
        BodyTable {
            when: &["id", "line_items", "financial_status?"],
            kind: BodyKind::Order,
            at: "",
        },
        // The body of `orders/delete`.
        BodyTable { when: &["#1", "id"], kind: BodyKind::Ignored(Ignored::Deleted), at: "" },
    ],
    order: OrderTable {
        id: &["id"],
        number: &["name", "order_number", "id"],
        currency: &["currency"],
        created: &["processed_at", "created_at"],
        email: &["email", "contact_email", "customer.email"],
        first_name: &["customer.first_name", "billing_address.first_name"],
        last_name: &["customer.last_name", "billing_address.last_name"],
        name: &[],
        language: &["customer_locale"],
        status: &["financial_status"],
        payments: &[
            (Payment::Cancelled, &["cancelled_at", "financial_status=voided"]),
            (Payment::Refunded, &["financial_status=refunded"]),
            (Payment::Paid, &["financial_status=paid", "financial_status=partially_refunded"]),
        ],
        test: &["test=true"],
        attributes: &[Attributes { at: "note_attributes", name: "name", text: "value" }],
    },
    sums: SumTable {
        total: &["+total_price"],
        goods_with_tax: &[
            "total_tax~0 +total_line_items_price -line_items[gift_card=true].price*quantity",
            "taxes_included=true +total_line_items_price -line_items[gift_card=true].price*quantity",
            "total_discounts~0 taxes_included=false +subtotal_price +line_items[].tax_lines[].price -line_items[gift_card=true].price*quantity",
        ],
        goods_without_tax: &[
            "total_tax~0 +total_line_items_price -line_items[gift_card=true].price*quantity",
            "taxes_included=false +total_line_items_price -line_items[gift_card=true].price*quantity",
            "total_discounts~0 taxes_included=true +subtotal_price -line_items[].tax_lines[].price -line_items[gift_card=true].price*quantity",
        ],
        discounted_with_tax: &[
            "total_tax~0 +subtotal_price -line_items[gift_card=true].price*quantity",
            "taxes_included=true +subtotal_price -line_items[gift_card=true].price*quantity",
            "taxes_included=false +subtotal_price +line_items[].tax_lines[].price -line_items[gift_card=true].price*quantity",
        ],
        discounted_without_tax: &[
            "total_tax~0 +subtotal_price -line_items[gift_card=true].price*quantity",
            "taxes_included=false +subtotal_price -line_items[gift_card=true].price*quantity",
            "taxes_included=true +subtotal_price -line_items[].tax_lines[].price -line_items[gift_card=true].price*quantity",
        ],
        shipping_with_tax: &[
            "total_tax~0 +shipping_lines[].discounted_price",
            "taxes_included=true +shipping_lines[].discounted_price",
            "taxes_included=false +shipping_lines[].discounted_price +shipping_lines[].tax_lines[].price",
        ],
        shipping_without_tax: &[
            "total_tax~0 +shipping_lines[].discounted_price",
            "taxes_included=false +shipping_lines[].discounted_price",
            "taxes_included=true +shipping_lines[].discounted_price -shipping_lines[].tax_lines[].price",
        ],
        gift_cards: &[],
    },
    lines: LineTable {
        at: "line_items[]",
        id: &["id"],
        sku: &["sku"],
        products: &["product_id", "variant_id"],
        title: &["title"],
        quantity: &["quantity"],
        gift_card: &["gift_card=true"],
        tip: &["tip_payment_gateway?", "tip_payment_method?"],
        deduction: &["price<0"],
        attributes: &[Attributes { at: "properties", name: "name", text: "value" }],
    },
    refunds: RefundTable {
        at: Some("refunds[]"),
        order: &["order_id"],
        id: &["id"],
        lines: "refund_line_items[]",
        line: &["line_item_id"],
        quantity: &["quantity"],
        sum: &["+transactions[kind=refund,status=success].amount"],
        currency: &["transactions[].currency"],
        whole: &[],
    },
};
