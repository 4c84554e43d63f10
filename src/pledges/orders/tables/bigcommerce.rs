//! BigCommerce: the webhooks `store/order/…`, which only have the order's ID; and the order of the V2 API, to which
//! the caller adds the list of `/products` as the member `products`.
//!
//! All amounts are in the transactional currency, `default_currency_code`. `subtotal_…` is the goods before the
//! discounts of the order. After them, each product has only its sum with tax, so goods after discounts without tax are
//! known only if there was no discount or no tax. A product of the type `giftcertificate` is a gift card that the buyer
//! bought.
//!
//! The order tells what was refunded in all: the sum, and the quantity of each product.

use super::super::event::Ignored;
use super::super::order::Payment;
use super::super::table::{
    Attributes, BodyKind, BodyTable, LineTable, OrderTable, RefundTable, SumTable, Table,
};

pub(super) static TABLE: Table = Table {
    is_minor: false,
    bodies: &[
        BodyTable { when: &["id", "status_id", "products"], kind: BodyKind::Order, at: "" },
        BodyTable { when: &["scope", "data.type=order"], kind: BodyKind::OrderId, at: "data.id" },
        BodyTable {
            when: &["scope", "data"],
            kind: BodyKind::Ignored(Ignored::OtherEvent),
            at: "",
        },
    ],
    order: OrderTable {
        id: &["id"],
        number: &["id"],
        currency: &["default_currency_code", "currency_code"],
        created: &["date_created"],
        email: &["billing_address.email"],
        first_name: &["billing_address.first_name"],
        last_name: &["billing_address.last_name"],
        name: &[],
        language: &["customer_locale"],
        status: &["status_id"],
        payments: &[
            (Payment::Cancelled, &["is_deleted=true", "status_id=5"]),
            (Payment::Refunded, &["status_id=4"]),
            (Payment::Draft, &["status_id=0"]),
            // Shipped, partially shipped; awaiting pickup, shipment; completed; awaiting fulfilment.
            (
                Payment::Paid,
                &[
                    "status_id=2",
                    "status_id=3",
                    "status_id=8",
                    "status_id=9",
                    "status_id=10",
                    "status_id=11",
                ],
            ),
        ],
        test: &[],
        attributes: &[Attributes {
            at: "billing_address.form_fields",
            name: "name",
            text: "value",
        }],
    },
    sums: SumTable {
        total: &["+total_inc_tax"],
        goods_with_tax: &["+subtotal_inc_tax -products[type=giftcertificate].total_inc_tax"],
        goods_without_tax: &["+subtotal_ex_tax -products[type=giftcertificate].total_ex_tax"],
        discounted_with_tax: &[
            "discount_amount~0 coupon_discount~0 +subtotal_inc_tax -products[type=giftcertificate].total_inc_tax",
            "+products[].discounted_total_inc_tax -products[type=giftcertificate].discounted_total_inc_tax",
        ],
        discounted_without_tax: &[
            "discount_amount~0 coupon_discount~0 +subtotal_ex_tax -products[type=giftcertificate].total_ex_tax",
            "total_tax~0 +products[].discounted_total_inc_tax -products[type=giftcertificate].discounted_total_inc_tax",
        ],
        shipping_with_tax: &["+shipping_cost_inc_tax"],
        shipping_without_tax: &["+shipping_cost_ex_tax"],
        gift_cards: &["+gift_certificate_amount +store_credit_amount?"],
    },
    lines: LineTable {
        at: "products[]",
        id: &["id"],
        sku: &["sku"],
        products: &["product_id", "variant_id"],
        title: &["name"],
        quantity: &["quantity"],
        gift_card: &["type=giftcertificate"],
        tip: &[],
        deduction: &["total_inc_tax<0"],
        attributes: &[Attributes {
            at: "product_options",
            name: "display_name",
            text: "display_value",
        }],
    },
    refunds: RefundTable {
        at: Some(""),
        order: &[],
        id: &["id"],
        lines: "products[]",
        line: &["id"],
        quantity: &["quantity_refunded"],
        sum: &["+refunded_amount"],
        currency: &[],
        whole: &[],
    },
};
