// generated from src/pledges/orders: `UPDATE=1 cargo test --test native generated` writes it anew.

export const MAX_LINES = 5000;
export const MAX_ATTRIBUTES = 100;
export const MAX_ID = 100;
export const MAX_TEXT = 1000;
export const MAX_AMOUNT = 40;
export const MAX_HEADER = 4096;
export const MAX_SIGNATURES = 8;
export const MAX_SECRETS = 4;
export const WINDOW_SECONDS = 300;
export const NO_PLACES = /BIF|CLP|DJF|GNF|JPY|KMF|KRW|MGA|PYG|RWF|VND|VUV|XAF|XOF|XPF/;
export const THREE_PLACES = /BHD|IQD|JOD|KWD|LYD|OMR|TND/;

export const TABLES = {
  stripe: [`object=v2.core.event thinEvent 
type=checkout.session.completed order data.object
type=checkout.session.async_payment_succeeded order data.object
type=charge.refunded refund data.object
object=checkout.session order 
type&data.object otherEvent `, `currency
minor
payment_intent|payment_intent.id|id
client_reference_id|id
created
customer_details.email|customer_email


customer_details.name|customer_details.individual_name
locale
payment_status
cancelled:status=expired|paid:payment_status=paid
livemode=false
livemode=true
metadata::|custom_fields:key:numeric.value,dropdown.value,text.value
+amount_total
line_items.data[]
-`, `id
price.lookup_key|price.product.metadata.sku
price.product|price.product.id|price.id
description
quantity


amount_total<0
`, `payment_intent|payment_intent.id
id



+amount_refunded
currency
refunded=true`],
  shopify: [`order_id&refund_line_items refund 
id&line_items&financial_status? order 
#1&id deleted `, `currency

id
name|order_number|id
processed_at|created_at
email|contact_email|customer.email
customer.first_name|billing_address.first_name
customer.last_name|billing_address.last_name

customer_locale
financial_status
cancelled:cancelled_at|cancelled:financial_status=voided|refunded:financial_status=refunded|paid:financial_status=paid|paid:financial_status=partially_refunded
test=true
test=false
note_attributes:name:value
+total_price
line_items[]
refunds[]`, `id
sku
product_id|variant_id
title
quantity
gift_card=true
tip_payment_gateway?|tip_payment_method?
price<0
properties:name:value`, `order_id
id
refund_line_items[]
line_item_id
quantity
+transactions[kind=refund,status=success].amount
transactions[].currency
`],
  woocommerce: [`id&status&line_items order 
action&arg? action 
#1&id deleted `, `currency

id
number|id
date_created_gmt
billing.email
billing.first_name
billing.last_name


status
cancelled:status=cancelled|cancelled:status=trash|refunded:status=refunded|draft:status=checkout-draft|draft:status=auto-draft|paid:status=processing|paid:status=completed


meta_data:key:value
+total
line_items[]
refunds[]`, `id
sku
product_id|variation_id
name
quantity


total<0
meta_data:key:value`, `
id



-total

`],
  bigcommerce: [`scope&data.type=order orderId data.id
scope&data otherEvent 
id&status_id&products order `, `default_currency_code|currency_code

id
id
date_created
billing_address.email
billing_address.first_name
billing_address.last_name

customer_locale
status_id
cancelled:is_deleted=true|cancelled:status_id=5|refunded:status_id=4|draft:status_id=0|paid:status_id=2|paid:status_id=3|paid:status_id=8|paid:status_id=9|paid:status_id=10|paid:status_id=11


billing_address.form_fields:name:value
+total_inc_tax
products[]
`, `id
sku
product_id|variant_id
name
quantity
type=giftcertificate

total_inc_tax<0
product_options:display_name:display_value`, `
id
products[]
id
quantity_refunded
+refunded_amount

`],
  medusa: [`id&items order `, `currency_code

id
display_id|id
created_at
email|customer.email
customer.first_name|billing_address.first_name|shipping_address.first_name
customer.last_name|billing_address.last_name|shipping_address.last_name

locale
payment_status|status
cancelled:canceled_at|cancelled:status=canceled|cancelled:payment_status=canceled|refunded:payment_status=refunded|draft:status=draft|draft:is_draft_order=true|paid:payment_status=captured|paid:payment_status=partially_refunded


metadata::
+total
items[]
`, `id
variant_sku
product_id|variant_id
title
quantity|detail.quantity
is_giftcard=true

unit_price<0
metadata::`, `
id
items[]
id
detail.return_received_quantity
+summary.refunded_total

`],
};
