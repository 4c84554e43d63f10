<?php
/**
 * Plugin Name: Impact Pledge
 * Description: Sends this shop's orders to Impact Pledge, and lets buyers add pledges at checkout.
 * Version: 1.0.0
 * Requires at least: 6.5
 * Requires PHP: 7.4
 * Requires Plugins: woocommerce
 * WC requires at least: 8.9
 * License: MIT
 * Text Domain: impact-pledge
 */

namespace ImpactPledge;

defined( 'ABSPATH' ) || exit;

require_once __DIR__ . '/screen.php';
require_once __DIR__ . '/choice.php';
require_once __DIR__ . '/thanks.php';

/** The option with the settings, the slug of their screen, and the action of its form. */
const NAME = 'impact-pledge';

final class Plugin {
	public static function start(): void {
		add_action( 'before_woocommerce_init', array( self::class, 'declare_compatible' ) );
		register_deactivation_hook( __FILE__, array( self::class, 'pause' ) );
		register_uninstall_hook( __FILE__, array( self::class, 'uninstall' ) );
		Screen::start();
		Choice::start();
		Thanks::start();
	}

	/** Declares that the plugin reads orders only through WooCommerce's classes, and works in the Checkout block. */
	public static function declare_compatible(): void {
		foreach ( array( 'custom_order_tables', 'cart_checkout_blocks' ) as $feature ) {
			\Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility( $feature, __FILE__, true );
		}
	}

	/**
	 * Returns the settings. `webhook`: an ID; `most`: how many pledges a buyer can choose; `label`: the text of the choice;
	 * `price`: what each costs the buyer, or an empty text; `thanks`: the text after the order.
	 */
	public static function settings(): array {
		$defaults = array(
			'webhook' => 0,
			'most' => 1,
			'label' => __( 'Plant a tree with this order', 'impact-pledge' ),
			'price' => '',
			'thanks' => __( 'Pledges with this order: {number}. They are recorded once the order is paid.', 'impact-pledge' ),
		);
		return array_merge( $defaults, (array) get_option( NAME, array() ) );
	}

	/** Returns the webhook that this plugin created, if it still exists. */
	public static function webhook(): ?\WC_Webhook {
		try {
			return function_exists( 'wc_get_webhook' ) ? wc_get_webhook( (int) self::settings()['webhook'] ) : null;
		} catch ( \Exception $missing ) {
			return null;
		}
	}

	/** Stops the webhook while the plugin is not active. */
	public static function pause(): void {
		$webhook = self::webhook();
		if ( $webhook ) {
			$webhook->set_status( 'paused' );
			$webhook->save();
		}
	}

	public static function uninstall(): void {
		$webhook = self::webhook();
		if ( $webhook ) {
			$webhook->delete( true );
		}
		delete_option( NAME );
	}
}

Plugin::start();
