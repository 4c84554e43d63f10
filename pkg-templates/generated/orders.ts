// generated from src/pledges/orders: `UPDATE=1 cargo test --test native generated` writes it anew.

export const MAX_LINES = 5000;
export const MAX_ATTRIBUTES = 100;
export const MAX_SIGNATURES = 8;
export const WINDOW_MS = 300000;

/** The codes of the currencies without decimal places at Stripe, then of those with three. */
export const CURRENCIES = "BIFCLPDJFGNFJPYKMFKRWMGAPYGRWFVNDVUVXAFXOFXPFBHDIQDJODKWDLYDOMRTND";
/** The length of the codes of those without decimal places. */
export const NO_PLACES = 45;

export const SYSTEMS = ["stripe", "bigcommerce", "woocommerce", "shopify", "medusa"] as const;

/** The headers with the signatures of these systems. The first two also sign the time. */
export const HEADERS = ["stripe-signature", "webhook-signature", "x-wc-webhook-signature", "x-shopify-hmac-sha256"] as const;

export const TABLE = `object=v2.core.event     thinEvent
type=charge.refunded/data/object   order_id!/refund_line_items!  refund
type=checkout.session.completed;checkout.session.async_payment_succeeded/data/object,object=checkout.session id!/status_id!/products! id!/status!/line_items! id!/line_items!/financial_status? id!/items! order
 scope!/data/type=order/id    orderId
type!/data/object! scope!/data!    otherEvent
  action!/arg?   action
  id!/id# id!/id#  deleted

line_items/data* products* line_items* line_items* items* lines
created date_created date_created_gmt processed_at,created_at created_at created
 billing_address/first_name billing/first_name customer/first_name,billing_address/first_name customer/first_name,billing_address/first_name,shipping_address/first_name firstName
customer_details/email,customer_email billing_address/email billing/email email,contact_email,customer/email email,customer/email email
 id! refunds* refunds* id! refunds
 billing_address/last_name billing/last_name customer/last_name,billing_address/last_name customer/last_name,billing_address/last_name,shipping_address/last_name lastName
customer_details/name,customer_details/individual_name     name
payment_status=paid status_id=2;3;8;9;10;11 status=processing;completed financial_status=paid;partially_refunded payment_status=captured;partially_refunded payment=paid
locale customer_locale  customer_locale locale language
payment_status status_id status financial_status payment_status,status status
payment_intent,payment_intent/id,id id id id id id
 status_id=0 status=checkout-draft;auto-draft  status=draft,is_draft_order=true payment=draft
 status_id=4 status=refunded financial_status=refunded payment_status=refunded payment=refunded
currency default_currency_code,currency_code currency currency currency_code currency
livemode=false   test=true  isTest
status=expired is_deleted=true,status_id=5 status=cancelled;trash cancelled_at!,financial_status=voided canceled_at!,status=canceled,payment_status=canceled payment=cancelled
amount_total~ total_inc_tax total total_price total total
client_reference_id,id  number name,order_number display_id number
metadata%,custom_fields*/key:numeric.value,custom_fields*/key:dropdown.value,custom_fields*/key:text.value billing_address/form_fields*/name:value meta_data*/key:value note_attributes*/name:value metadata% attributes

price/product,price/product/id,price/id product_id,variant_id product_id,variation_id product_id,variant_id product_id,variant_id products
description name name title title title
amount_total< total_inc_tax< total< price< unit_price< kind=deduction
   tip_payment_gateway?,tip_payment_method?  kind=tip
price/lookup_key,price/product/metadata/sku sku sku sku variant_sku sku
quantity quantity quantity quantity quantity,detail/quantity quantity
 type=giftcertificate  gift_card=true is_giftcard=true kind=giftcard
 product_options*/display_name:display_value meta_data*/key:value properties*/name:value metadata% attributes
id id id id id id

currency   transactions*/currency  currency
amount_refunded~ refunded_amount total- transactions*/kind=refund/status=success/amount summary/refunded_total sum
 products*/id:quantity_refunded  refund_line_items*/line_item_id:quantity items*/id:detail.return_received_quantity lines
id id id id id id
refunded=true     isWhole

payment_intent,payment_intent/id   order_id  orderId`;
