//! Medusa 2: an order as `query.graph` returns it in a subscriber. Medusa sends no webhooks. The subscriber adds
//! `payment_status`: Medusa computes it in workflows of its own (`packages/core/core-flows/src/order/utils/aggregate-status.ts`).
//!
//! Totals are in the main unit, as numbers, texts or objects with a `value`. They are there only if the query names
//! them. `item_total` is the goods after discounts with tax, `original_item_total` before them. Gift cards and store
//! credit are credit lines. Source: medusajs/medusa `packages/core/utils/src/totals/cart/index.ts`.
//!
//! The order tells what was refunded in all (`summary.refunded_total`), and which items came back.

use super::super::order::Payment;
use super::super::table::{
    Attributes, BodyKind, BodyTable, LineTable, OrderTable, RefundTable, SumTable, Table,
};

pub(super) static TABLE: Table = Table {
    is_minor: false,
    bodies: &[BodyTable { when: &["id", "items"], kind: BodyKind::Order, at: "" }],
    order: OrderTable {
        id: &["id"],
        number: &["display_id", "id"],
        currency: &["currency_code"],
        created: &["created_at"],
        email: &["email", "customer.email"],
        first_name: &[
            "customer.first_name",
            "billing_address.first_name",
            "shipping_address.first_name",
        ],
        last_name: &[
            "customer.last_name",
            "billing_address.last_name",
            "shipping_address.last_name",
        ],
        name: &[],
        language: &["locale"],
        status: &["payment_status", "status"],
        payments: &[
            (Payment::Cancelled, &["canceled_at", "status=canceled", "payment_status=canceled"]),
            (Payment::Refunded, &["payment_status=refunded"]),
            (Payment::Draft, &["status=draft", "is_draft_order=true"]),
            (Payment::Paid, &["payment_status=captured", "payment_status=partially_refunded"]),
        ],
        test: &[],
        attributes: &[Attributes { at: "metadata", name: "", text: "" }],
    },
    sums: SumTable {
        total: &["+total"],
        goods_with_tax: &["+original_item_total -items[is_giftcard=true].original_total"],
        goods_without_tax: &[
            "+original_item_total -original_item_tax_total -items[is_giftcard=true].original_total +items[is_giftcard=true].original_tax_total",
        ],
        discounted_with_tax: &["+item_total -items[is_giftcard=true].total"],
        discounted_without_tax: &[
            "+item_total -item_tax_total -items[is_giftcard=true].total +items[is_giftcard=true].tax_total",
        ],
        shipping_with_tax: &["+shipping_total"],
        shipping_without_tax: &["+shipping_total -shipping_tax_total"],
        gift_cards: &["+credit_line_total", "+gift_card_total"],
    },
    lines: LineTable {
        at: "items[]",
        id: &["id"],
        sku: &["variant_sku"],
        products: &["product_id", "variant_id"],
        title: &["title"],
        quantity: &["quantity", "detail.quantity"],
        gift_card: &["is_giftcard=true"],
        tip: &[],
        deduction: &["unit_price<0"],
        attributes: &[Attributes { at: "metadata", name: "", text: "" }],
    },
    refunds: RefundTable {
        at: Some(""),
        order: &[],
        id: &["id"],
        lines: "items[]",
        line: &["id"],
        quantity: &["detail.return_received_quantity"],
        sum: &["+summary.refunded_total"],
        currency: &[],
        whole: &[],
    },
};
