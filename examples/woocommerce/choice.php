<?php
/**
 * The pledges that a buyer adds at checkout: a tick, or a list of numbers. The classic checkout posts the number with its form;
 * the Checkout block sends it to WooCommerce's Store API.
 */

namespace ImpactPledge;

defined( 'ABSPATH' ) || exit;

final class Choice {
	/** The order's metadata with the number: the attribute of the rule `choice`. Also its name in the form and the session. */
	public const KEY = 'impact_pledges';
	/** The field of the Checkout block, and the customer's metadata in which WooCommerce keeps its value. */
	private const FIELD = 'impact-pledge/choice';
	private const KEPT = '_wc_other/impact-pledge/choice';

	/** @var int The number that the cart's total was last calculated with. */
	private static $charged = 0;

	public static function start(): void {
		$hooks = array(
			'woocommerce_init' => 'add_to_block',
			'woocommerce_after_order_notes' => 'show',
			'woocommerce_after_checkout_validation' => 'check',
			'woocommerce_checkout_create_order' => 'save',
			'woocommerce_set_additional_field_value' => 'save_from_block',
			'woocommerce_cart_calculate_fees' => 'charge',
			'woocommerce_store_api_checkout_update_order_from_request' => 'check_charge',
			'woocommerce_cart_emptied' => 'forget',
		);
		foreach ( $hooks as $hook => $method ) {
			add_action( $hook, array( self::class, $method ), 10, 4 );
		}
	}

	/**
	 * Returns the number of pledges that a value means, or null if the shop does not offer it.
	 *
	 * @param mixed $value
	 */
	private static function number( $value ): ?int {
		$text = is_bool( $value ) ? (string) (int) $value : $value ?? '';
		if ( '' === $text ) {
			return 0;
		}
		$is_number = is_scalar( $text ) && preg_match( '/^\d{1,2}$/D', (string) $text );
		return $is_number && (int) $text <= Plugin::settings()['most'] ? (int) $text : null;
	}

	private static function refusal(): string {
		return __( 'Choose one of the offered numbers of pledges.', 'impact-pledge' );
	}

	/** Returns a text with the price of a number of pledges, not escaped. */
	private static function priced( string $text, int $number ): string {
		$price = (float) Plugin::settings()['price'] * $number;
		return $price > 0 ? $text . ' (+ ' . html_entity_decode( wp_strip_all_tags( wc_price( $price ) ), ENT_QUOTES, 'UTF-8' ) . ')' : $text;
	}

	/** Returns the type of the field, its label and the texts of its list, not escaped; null if the shop offers no choice. */
	private static function field(): ?array {
		[ 'most' => $most, 'label' => $label ] = Plugin::settings();
		if ( $most < 1 ) {
			return null;
		}
		if ( 1 === $most ) {
			return array( 'type' => 'checkbox', 'label' => self::priced( $label, 1 ), 'options' => array() );
		}
		$texts = array_map( fn( $number ) => self::priced( (string) $number, $number ), range( 0, $most ) );
		return array( 'type' => 'select', 'label' => $label, 'options' => $texts );
	}

	// ---- The classic checkout ------------------------------------------------------------------------------

	public static function show(): void {
		$field = self::field();
		if ( $field ) {
			$field['label'] = esc_html( $field['label'] );
			$field['class'] = array( 'form-row-wide', 'update_totals_on_change' );
			woocommerce_form_field( self::KEY, $field, (string) self::chosen() );
		}
	}

	/**
	 * Returns the choice in the form of the classic checkout, whose nonce WooCommerce has checked: null without a form, -1 if
	 * the shop does not offer this number. While the buyer changes the form, it arrives encoded in `post_data`.
	 */
	private static function posted(): ?int {
		$form = wp_unslash( $_POST ); // phpcs:ignore WordPress.Security.NonceVerification
		if ( isset( $form['post_data'] ) && is_string( $form['post_data'] ) ) {
			parse_str( $form['post_data'], $form );
		}
		return isset( $form['woocommerce-process-checkout-nonce'] ) ? self::number( $form[ self::KEY ] ?? 0 ) ?? -1 : null;
	}

	/**
	 * @param array     $form
	 * @param \WP_Error $errors
	 */
	public static function check( $form, $errors ): void {
		if ( -1 === self::posted() ) {
			$errors->add( NAME, esc_html( self::refusal() ) );
		}
	}

	/** @param \WC_Order $order */
	public static function save( $order ): void {
		self::write( $order, max( 0, self::posted() ?? 0 ) );
	}

	private static function write( \WC_Order $order, int $number ): void {
		if ( $number > 0 ) {
			$order->update_meta_data( self::KEY, (string) $number );
		} else {
			$order->delete_meta_data( self::KEY );
		}
	}

	// ---- The Checkout block --------------------------------------------------------------------------------

	public static function add_to_block(): void {
		$field = self::field();
		if ( ! $field || ! function_exists( 'woocommerce_register_additional_checkout_field' ) ) {
			return;
		}
		$options = array();
		foreach ( $field['options'] as $number => $label ) {
			$options[] = array( 'value' => (string) $number, 'label' => $label );
		}
		woocommerce_register_additional_checkout_field(
			array(
				'id' => self::FIELD,
				'location' => 'order',
				'type' => $field['type'],
				'label' => $field['label'],
				'options' => $options,
				'show_in_order_confirmation' => false,
				'validate_callback' => fn( $value ) => null === self::number( $value ) ? new \WP_Error( NAME, self::refusal() ) : null,
			)
		);
	}

	/**
	 * Saves the choice in the session while the buyer changes it, and in the order.
	 *
	 * @param string                  $field
	 * @param mixed                   $value
	 * @param string                  $group
	 * @param \WC_Order|\WC_Customer $owner
	 */
	public static function save_from_block( $field, $value, $group, $owner ): void {
		if ( self::FIELD !== $field ) {
			return;
		}
		$number = self::number( $value ) ?? 0;
		if ( WC()->session ) {
			WC()->session->set( self::KEY, $number );
		}
		if ( $owner instanceof \WC_Order ) {
			self::write( $owner, $number );
		}
	}

	// ---- What the buyer pays -------------------------------------------------------------------------------

	/** Returns what this buyer has chosen so far; 0 if the shop does not offer it. */
	private static function chosen(): int {
		$session = WC()->session;
		$posted = self::posted();
		if ( null !== $posted && $session ) {
			$session->set( self::KEY, $posted );
		}
		return self::number( $posted ?? ( $session ? $session->get( self::KEY ) : 0 ) ) ?? 0;
	}

	/** @param \WC_Cart $cart */
	public static function charge( $cart ): void {
		[ 'label' => $label, 'price' => $price ] = Plugin::settings();
		self::$charged = self::chosen();
		if ( self::$charged > 0 && (float) $price > 0 ) {
			$cart->add_fee( $label . ' × ' . self::$charged, (float) $price * self::$charged );
		}
	}

	/**
	 * Refuses an order of the Checkout block whose total has another choice than the order: nobody pays a sum that was not shown.
	 *
	 * @param \WC_Order        $order
	 * @param \WP_REST_Request $request
	 */
	public static function check_charge( $order, $request ): void {
		$is_other = (int) $order->get_meta( self::KEY ) !== self::$charged;
		if ( $is_other && 'POST' === $request->get_method() && (float) Plugin::settings()['price'] > 0 ) {
			$text = __( 'The total has changed. Check it, and place the order again.', 'impact-pledge' );
			throw new \Automattic\WooCommerce\StoreApi\Exceptions\RouteException( NAME, esc_html( $text ), 409 );
		}
	}

	/** Forgets the choice when an order has emptied the cart, so that the next order starts without a tick. */
	public static function forget(): void {
		$woocommerce = WC();
		if ( $woocommerce->session ) {
			$woocommerce->session->set( self::KEY, null );
		}
		if ( $woocommerce->customer && '' !== $woocommerce->customer->get_meta( self::KEPT ) ) {
			$woocommerce->customer->delete_meta_data( self::KEPT );
			$woocommerce->customer->save();
		}
	}
}
