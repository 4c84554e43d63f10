<?php
/** What a request to the stand-in does: the hooks of WordPress and WooCommerce, in the order in which they run. */

require '/wordpress.php';
Site::open();
require '/plugin/impact-pledge.php';
do_action( 'before_woocommerce_init' );
do_action( 'woocommerce_init' );

function place( WC_Order $order ): void {
	$order->fees = Site::$fees;
	$order->save();
	do_action( 'woocommerce_cart_emptied' );
}

/** Returns whether the value of the Checkout block's field is valid. WooCommerce does not ask about empty values. */
function is_valid( $field, $value ): bool {
	$problem = empty( $value ) ? null : ( $field['validate_callback'] )( $value );
	if ( $problem ) {
		Site::$result['problems'] = $problem->messages;
	}
	return ! $problem;
}

/** Saves a value of the Checkout block's field. @param WC_Order|WC_Customer $owner */
function set_field( string $id, $value, $owner ): void {
	do_action( 'woocommerce_set_additional_field_value', $id, $value, 'other', $owner );
	$owner->update_meta_data( "_wc_other/$id", is_bool( $value ) ? (string) (int) $value : $value );
}

final class Request {
	public function get_method() {
		return 'block' === Site::$step['do'] ? 'POST' : 'PUT';
	}
}

$steps = array(
	'screen' => function () {
		do_action( 'admin_menu' );
		[ , $show ] = Site::$screens['impact-pledge'];
		do_action( 'load-woocommerce_page_impact-pledge' );
		$show();
	},
	'notices' => fn() => do_action( 'admin_notices' ),
	'deactivate' => fn() => do_action( 'deactivate' ),
	'uninstall' => fn() => do_action( 'uninstall' ),
	// What happens to the webhook and the settings outside the plugin.
	'option' => fn( $step ) => update_option( 'impact-pledge', $step['value'] ),
	'webhook' => function ( $step ) {
		Site::$kept['webhooks'] = $step['values'] ? array( 1 => $step['values'] + Site::$kept['webhooks'][1] ) : array();
	},
	// The classic checkout: its page, its form while the buyer changes it, and its form.
	'checkout' => function () {
		WC()->cart->calculate_totals();
		do_action( 'woocommerce_after_order_notes', null );
	},
	'change' => fn() => WC()->cart->calculate_totals(),
	'order' => function () {
		WC()->cart->calculate_totals();
		do_action( 'woocommerce_after_checkout_validation', array(), $errors = new WP_Error() );
		Site::$result['problems'] = $errors->messages;
		if ( ! $errors->messages ) {
			do_action( 'woocommerce_checkout_create_order', $order = new WC_Order(), array() );
			place( $order );
		}
	},
	// The Checkout block: what the buyer changes, and the order.
	'draft' => function ( $step ) {
		foreach ( Site::$fields as $id => $field ) {
			if ( is_valid( $field, $step['value'] ) ) {
				set_field( $id, $step['value'], WC()->customer );
				WC()->customer->save();
			}
		}
		WC()->cart->calculate_totals();
	},
	// The same after a payment failed, when the session has an order.
	'redraft' => function ( $step ) {
		foreach ( array_keys( Site::$fields ) as $id ) {
			set_field( $id, $step['value'], $order = new WC_Order() );
			do_action( 'woocommerce_store_api_checkout_update_order_from_request', $order, new Request() );
		}
		WC()->cart->calculate_totals();
	},
	'block' => function ( $step ) {
		WC()->cart->calculate_totals();
		$order = new WC_Order();
		foreach ( Site::$fields as $id => $field ) {
			if ( ! is_valid( $field, $step['value'] ) ) {
				return;
			}
			set_field( $id, WC()->customer->get_meta( "_wc_other/$id" ), $order );
			set_field( $id, $step['value'], $order );
		}
		try {
			do_action( 'woocommerce_store_api_checkout_update_order_from_request', $order, new Request() );
			place( $order );
		} catch ( Automattic\WooCommerce\StoreApi\Exceptions\RouteException $error ) {
			Site::$result = array( 'status' => $error->getCode(), 'problems' => array( $error->getMessage() ) );
		}
	},
	'status' => function ( $step ) {
		Site::$kept['orders'][ $step['order'] ]['status'] = $step['status'];
	},
	'thanks' => fn( $step ) => do_action( 'woocommerce_thankyou', $step['order'] ),
	'mail' => fn( $step ) => do_action( 'woocommerce_email_after_order_table', wc_get_order( $step['order'] ), false, $step['plain'], null ),
);
$steps[ Site::$step['do'] ]( Site::$step );
