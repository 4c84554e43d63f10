<?php
/** What the buyer reads about the pledges after the order: on its page, and in its e-mails. */

namespace ImpactPledge;

defined( 'ABSPATH' ) || exit;

final class Thanks {
	public static function start(): void {
		add_action( 'woocommerce_thankyou', array( self::class, 'show' ) );
		add_action( 'woocommerce_email_after_order_table', array( self::class, 'mail' ), 10, 3 );
	}

	/**
	 * Returns the text about an order's pledges, not escaped. An order without pledges has none. If the shop offers no choice,
	 * and its text has no number, then the text is about every order.
	 *
	 * @param mixed $order
	 */
	private static function text( $order ): string {
		if ( ! $order instanceof \WC_Order || $order->has_status( array( 'failed', 'cancelled', 'refunded' ) ) ) {
			return '';
		}
		[ 'most' => $most, 'thanks' => $text ] = Plugin::settings();
		$number = (int) $order->get_meta( Choice::KEY );
		$is_about_every_order = $most < 1 && false === strpos( $text, '{number}' );
		return $number > 0 || $is_about_every_order ? str_replace( '{number}', (string) $number, $text ) : '';
	}

	/** @param int $order_id */
	public static function show( $order_id ): void {
		$text = self::text( wc_get_order( $order_id ) );
		if ( '' !== $text ) {
			echo '<p class="impact-pledge">' . esc_html( $text ) . '</p>';
		}
	}

	/**
	 * @param \WC_Order $order
	 * @param bool      $is_to_shop
	 * @param bool      $is_plain
	 */
	public static function mail( $order, $is_to_shop, $is_plain ): void {
		$text = self::text( $order );
		if ( '' !== $text ) {
			echo $is_plain ? "\n" . esc_html( $text ) . "\n" : '<p>' . esc_html( $text ) . '</p>'; // WooCommerce decodes plain e-mails
		}
	}
}
