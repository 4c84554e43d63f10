//! Stripe: events about Checkout Sessions, and sessions that were fetched. Fields are those of `stripe` 23.1.0,
//! `resources/Checkout/Sessions.d.ts` and `resources/Charges.d.ts`.
//!
//! An order is a session. Its ID is that of the payment intent, because `charge.refunded` names only that. A session
//! without one, such as a free order, has its own ID. Webhooks have no lines; a session that was fetched with
//! `expand[]=line_items` does.
//!
//! `amount_total` is goods after discounts, plus shipping, plus tax. Discounts do not apply to shipping, and tax is
//! either included in prices or not. So goods before discounts are known only if there was no discount or no tax.

use super::super::event::Ignored;
use super::super::order::Payment;
use super::super::table::{
    Attributes, BodyKind, BodyTable, LineTable, OrderTable, RefundTable, SumTable, Table,
};

pub(super) static TABLE: Table = Table {
    is_minor: true,
    bodies: &[
        BodyTable {
            when: &["object=v2.core.event"],
            kind: BodyKind::Ignored(Ignored::ThinEvent),
            at: "",
        },
        BodyTable { when: &["type=charge.refunded"], kind: BodyKind::Refund, at: "data.object" },
        BodyTable {
            when: &["type=checkout.session.completed"],
            kind: BodyKind::Order,
            at: "data.object",
        },
        BodyTable {
            when: &["type=checkout.session.async_payment_succeeded"],
            kind: BodyKind::Order,
            at: "data.object",
        },
        BodyTable { when: &["object=checkout.session"], kind: BodyKind::Order, at: "" },
        BodyTable {
            when: &["type", "data.object"],
            kind: BodyKind::Ignored(Ignored::OtherEvent),
            at: "",
        },
    ],
    order: OrderTable {
        id: &["payment_intent", "payment_intent.id", "id"],
        number: &["client_reference_id", "id"],
        currency: &["currency"],
        created: &["created"],
        email: &["customer_details.email", "customer_email"],
        first_name: &[],
        last_name: &[],
        name: &["customer_details.name", "customer_details.individual_name"],
        language: &["locale"],
        status: &["payment_status"],
        payments: &[
            (Payment::Cancelled, &["status=expired"]),
            (Payment::Paid, &["payment_status=paid"]),
        ],
        test: &["livemode=false"],
        attributes: &[
            Attributes { at: "metadata", name: "", text: "" },
            Attributes { at: "custom_fields", name: "key", text: "numeric.value" },
            Attributes { at: "custom_fields", name: "key", text: "dropdown.value" },
            Attributes { at: "custom_fields", name: "key", text: "text.value" },
        ],
    },
    sums: SumTable {
        total: &["+amount_total"],
        goods_with_tax: &[
            "total_details.amount_discount~0 +amount_total -shipping_cost.amount_total",
            "total_details.amount_discount~0 total_details.amount_shipping~0 +amount_total",
            "total_details.amount_tax~0 +amount_total +total_details.amount_discount -shipping_cost.amount_total",
            "total_details.amount_tax~0 total_details.amount_shipping~0 +amount_total +total_details.amount_discount",
        ],
        goods_without_tax: &[
            "total_details.amount_discount~0 +amount_total -total_details.amount_tax -shipping_cost.amount_total +shipping_cost.amount_tax",
            "total_details.amount_discount~0 total_details.amount_shipping~0 +amount_total -total_details.amount_tax",
            "total_details.amount_tax~0 +amount_total +total_details.amount_discount -shipping_cost.amount_total",
            "total_details.amount_tax~0 total_details.amount_shipping~0 +amount_total +total_details.amount_discount",
        ],
        discounted_with_tax: &[
            "+amount_total -shipping_cost.amount_total",
            "total_details.amount_shipping~0 +amount_total",
        ],
        discounted_without_tax: &[
            "+amount_total -total_details.amount_tax -shipping_cost.amount_total +shipping_cost.amount_tax",
            "total_details.amount_shipping~0 +amount_total -total_details.amount_tax",
        ],
        shipping_with_tax: &["+shipping_cost.amount_total", "total_details.amount_shipping~0"],
        shipping_without_tax: &[
            "+shipping_cost.amount_total -shipping_cost.amount_tax",
            "total_details.amount_shipping~0",
        ],
        gift_cards: &[""], // Checkout has no gift cards
    },
    lines: LineTable {
        at: "line_items.data[]",
        id: &["id"],
        sku: &["price.lookup_key", "price.product.metadata.sku"],
        products: &["price.product", "price.product.id", "price.id"],
        title: &["description"],
        quantity: &["quantity"],
        gift_card: &[],
        tip: &[],
        deduction: &["amount_total<0"],
        attributes: &[],
    },
    refunds: RefundTable {
        at: None,
        order: &["payment_intent", "payment_intent.id"],
        id: &["id"],
        lines: "",
        line: &[],
        quantity: &[],
        sum: &["+amount_refunded"],
        currency: &["currency"],
        whole: &["refunded=true"],
    },
};
