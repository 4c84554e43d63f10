// generated from src/pledges/orders: `UPDATE=1 cargo test --test native generated` writes it anew.

export const MAX_LINES = 5000;
export const MAX_ATTRIBUTES = 100;
export const MAX_AMOUNT = 40;
export const MAX_HEADER = 4096;
export const MAX_SIGNATURES = 8;
export const MAX_SECRETS = 4;
export const WINDOW_SECONDS = 300;

/** The codes of the currencies without decimal places at Stripe, then of those with three. */
export const CURRENCIES = "BIFCLPDJFGNFJPYKMFKRWMGAPYGRWFVNDVUVXAFXOFXPFBHDIQDJODKWDLYDOMRTND";
/** The length of the codes of those without decimal places. */
export const NO_PLACES = 45;

export const SYSTEMS = ["stripe", "shopify", "woocommerce", "medusa", "bigcommerce"] as const;

export const TABLE = `object=v2.core.event     thinEvent
type=charge.refunded/data/object order_id!/refund_line_items!    refund
type=checkout.session.completed;checkout.session.async_payment_succeeded/data/object,object=checkout.session id!/line_items!/financial_status? id!/status!/line_items! id!/items! id!/status_id!/products! order
    scope!/data/type=order/id orderId
type!/data/object!    scope!/data! otherEvent
  action!/arg?   action
 id!/id# id!/id#   deleted

payment_intent,payment_intent/id,id id id id id id
currency currency currency currency_code default_currency_code,currency_code currency
client_reference_id,id name,order_number number display_id  number
created processed_at,created_at date_created_gmt created_at date_created created
customer_details/email,customer_email email,contact_email,customer/email billing/email email,customer/email billing_address/email email
locale customer_locale  locale customer_locale language
payment_status financial_status status payment_status,status status_id status

status=expired cancelled_at!,financial_status=voided status=cancelled;trash canceled_at!,status=canceled,payment_status=canceled is_deleted=true,status_id=5 cancelled
 financial_status=refunded status=refunded payment_status=refunded status_id=4 refunded
  status=checkout-draft;auto-draft status=draft,is_draft_order=true status_id=0 draft
payment_status=paid financial_status=paid;partially_refunded status=processing;completed payment_status=captured;partially_refunded status_id=2;3;8;9;10;11 paid

livemode=false test=true    true
livemode=true test=false    false

id id id id id id
price/lookup_key,price/product/metadata/sku sku sku variant_sku sku sku
description title name title name title
quantity quantity quantity quantity,detail/quantity quantity quantity

 gift_card=true  is_giftcard=true type=giftcertificate giftcard
 tip_payment_gateway?,tip_payment_method?    tip
amount_total< price< total< unit_price< total_inc_tax< deduction

id id id id id id
currency transactions*/currency    currency

amount_total,~ total_price total total total_inc_tax
amount_refunded,~ transactions*/kind=refund/status=success/amount total,- summary/refunded_total refunded_amount
line_items/data* line_items* line_items* items* products*
 refund_line_items*:line_item_id:quantity  items*:id:detail/return_received_quantity products*:id:quantity_refunded
metadata%,custom_fields*:key:numeric/value;dropdown/value;text/value note_attributes*:name:value meta_data*:key:value metadata% billing_address/form_fields*:name:value
 properties*:name:value meta_data*:key:value metadata% product_options*:display_name:display_value
 refunds* refunds* id! id!
price/product,price/product/id,price/id product_id,variant_id product_id,variation_id product_id,variant_id product_id,variant_id
refunded=true    
payment_intent,payment_intent/id order_id   
 customer,billing_address billing customer,billing_address,shipping_address billing_address
customer_details/name,customer_details/individual_name    `;
