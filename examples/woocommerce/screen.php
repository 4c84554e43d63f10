<?php
/** The screen WooCommerce → Impact Pledge: the connection, and what buyers see. */

namespace ImpactPledge;

defined( 'ABSPATH' ) || exit;

final class Screen {
	private const CAPABILITY = 'manage_woocommerce';
	/** Greatest number of pledges that a shop can offer with one order. */
	private const LIMIT = 20;

	/** @var string[] What is wrong with the form that was sent. */
	private static $problems = array();

	public static function start(): void {
		add_action( 'admin_menu', array( self::class, 'add' ) );
		add_action( 'admin_notices', array( self::class, 'warn' ) );
	}

	public static function add(): void {
		$title = __( 'Impact Pledge', 'impact-pledge' );
		$screen = add_submenu_page( 'woocommerce', $title, $title, self::CAPABILITY, NAME, array( self::class, 'show' ) );
		add_action( "load-$screen", array( self::class, 'save' ) );
	}

	/** Saves the form. If it is not valid, saves nothing, and `show` says why. */
	public static function save(): void {
		if ( 'POST' !== ( $_SERVER['REQUEST_METHOD'] ?? '' ) ) {
			return;
		}
		if ( ! current_user_can( self::CAPABILITY ) ) {
			wp_die( esc_html__( 'You may not change these settings.', 'impact-pledge' ), '', array( 'response' => 403 ) );
		}
		check_admin_referer( NAME );
		$sent = self::sent();
		$webhook = Plugin::webhook();
		self::$problems = self::problems( $sent, null === $webhook );
		if ( self::$problems ) {
			return;
		}
		$webhook = $webhook ?? new \WC_Webhook();
		if ( 'active' !== $webhook->get_status() || '' !== $sent['secret'] || $webhook->get_delivery_url() !== $sent['url'] ) {
			self::connect( $webhook, $sent['url'], $sent['secret'] );
		}
		$changed = array( 'webhook' => $webhook->get_id(), 'most' => (int) $sent['most'] );
		update_option( NAME, $changed + array_intersect_key( $sent, Plugin::settings() ) );
		if ( ! self::$problems ) {
			wp_safe_redirect( admin_url( 'admin.php?page=' . NAME . '&saved=1' ) );
			exit;
		}
	}

	/** Returns the texts that the form has sent. The secret stays as it was entered, except for blanks around it. */
	private static function sent(): array {
		$sent = array();
		foreach ( array( 'url', 'secret', 'most', 'label', 'price', 'thanks' ) as $name ) {
			$value = wp_unslash( $_POST[ $name ] ?? '' ); // phpcs:ignore WordPress.Security -- `save` has checked the nonce
			$sent[ $name ] = trim( is_string( $value ) ? $value : '' );
		}
		$sent['price'] = str_replace( ',', '.', $sent['price'] );
		$sent['label'] = sanitize_text_field( $sent['label'] );
		$sent['thanks'] = sanitize_text_field( $sent['thanks'] );
		return $sent;
	}

	/** @return string[] */
	private static function problems( array $sent, bool $is_new ): array {
		[ 'url' => $url, 'secret' => $secret, 'most' => $most, 'label' => $label, 'price' => $price ] = $sent;
		$problems = array();
		if ( ! preg_match( '~^https://[a-z0-9.-]+(:\d{1,5})?/orders/[a-z2-7]{26}$~D', $url ) ) {
			$problems[] = __( 'Copy the whole URL from the connection\'s page in the dashboard: https://…/orders/…', 'impact-pledge' );
		}
		if ( '' === $secret && $is_new ) {
			$problems[] = __( 'Enter the secret of the connection.', 'impact-pledge' );
		}
		// WooCommerce decodes HTML entities in a secret before it signs.
		if ( '' !== $secret && ( ! preg_match( '/^[^&\p{C}]+$/uD', $secret ) || strlen( $secret ) < 8 || strlen( $secret ) > 255 ) ) {
			$problems[] = __( 'Choose a secret of 8 to 255 characters without &, and enter the same one in the dashboard.', 'impact-pledge' );
		}
		if ( ! preg_match( '/^\d{1,2}$/D', $most ) || (int) $most > self::LIMIT ) {
			/* translators: %d: a number */
			$problems[] = sprintf( __( 'Enter a number from 0 to %d as the most pledges that a buyer can choose.', 'impact-pledge' ), self::LIMIT );
		}
		if ( 0 !== (int) $most && '' === $label ) {
			$problems[] = __( 'Enter the text of the choice.', 'impact-pledge' );
		}
		if ( ! preg_match( '/^(\d{1,6}(\.\d{1,4})?)?$/D', $price ) ) {
			$problems[] = __( 'Enter the price as a number, such as 1.50, or leave it empty.', 'impact-pledge' );
		}
		return $problems;
	}

	/** Creates or changes the webhook, and sends WooCommerce's ping. Pauses the webhook if the service does not accept that. */
	private static function connect( \WC_Webhook $webhook, string $url, string $secret ): void {
		$webhook->set_name( 'Impact Pledge' );
		$webhook->set_user_id( get_current_user_id() ); // WooCommerce reads the orders as this person
		$webhook->set_topic( 'order.updated' );
		$webhook->set_api_version( 'wp_api_v3' );
		$webhook->set_delivery_url( $url );
		if ( '' !== $secret ) {
			$webhook->set_secret( $secret );
		}
		$webhook->set_status( 'active' );
		$webhook->set_failure_count( 0 );
		$webhook->save();
		$answer = $webhook->deliver_ping();
		if ( is_wp_error( $answer ) ) {
			$webhook->set_status( 'paused' );
			$webhook->save();
			/* translators: %s: an error message of WooCommerce */
			self::$problems[] = sprintf( __( 'The service does not accept the connection. Check the URL, and save again. %s', 'impact-pledge' ), $answer->get_error_message() );
		}
	}

	/** Warns on each page of the administration if WooCommerce has disabled the webhook, which it does silently. */
	public static function warn(): void {
		$webhook = current_user_can( self::CAPABILITY ) ? Plugin::webhook() : null;
		if ( $webhook && 'disabled' === $webhook->get_status() ) {
			printf(
				'<div class="notice notice-error"><p>%s <a href="%s">%s</a></p></div>',
				esc_html__( 'Orders are not pledged: WooCommerce has disabled the connection to Impact Pledge, because more than 5 deliveries in a row failed.', 'impact-pledge' ),
				esc_url( admin_url( 'admin.php?page=' . NAME ) ),
				esc_html__( 'Switch it on again', 'impact-pledge' )
			);
		}
	}

	/** Returns the kind of notice and the text about a connection. */
	private static function state( ?\WC_Webhook $webhook ): array {
		if ( ! $webhook ) {
			return array( 'info', __( 'Not connected. Copy the URL from the connection\'s page in the dashboard, and enter the same secret here and there.', 'impact-pledge' ) );
		}
		if ( 'active' !== $webhook->get_status() ) {
			return array( 'error', __( 'Switched off: no orders are sent. Save this form to switch the connection on. Then save each order that was missed, which sends it.', 'impact-pledge' ) );
		}
		if ( $webhook->get_failure_count() > 0 ) {
			/* translators: %d: a number */
			return array( 'warning', sprintf( __( 'Connected, but deliveries failed (%d in a row). After more than 5, WooCommerce disables the connection.', 'impact-pledge' ), $webhook->get_failure_count() ) );
		}
		return array( 'success', __( 'Connected. WooCommerce sends an order whenever it changes.', 'impact-pledge' ) );
	}

	public static function show(): void {
		$webhook = Plugin::webhook();
		[ $kind, $state ] = self::state( $webhook );
		$values = self::$problems ? self::sent() : array( 'url' => $webhook ? $webhook->get_delivery_url() : '' ) + Plugin::settings();
		echo '<div class="wrap"><h1>' . esc_html__( 'Impact Pledge', 'impact-pledge' ) . '</h1>';
		foreach ( self::$problems as $problem ) {
			echo '<div class="notice notice-error" role="alert"><p>' . esc_html( $problem ) . '</p></div>';
		}
		if ( isset( $_GET['saved'] ) && ! self::$problems ) { // phpcs:ignore WordPress.Security.NonceVerification
			echo '<div class="notice notice-success" role="status"><p>' . esc_html__( 'Saved.', 'impact-pledge' ) . '</p></div>';
		}
		echo '<div class="notice inline notice-' . esc_attr( $kind ) . '"><p>' . esc_html( $state ) . '</p></div>';
		echo '<form method="post"><table class="form-table">';
		wp_nonce_field( NAME );
		$keep = $webhook ? __( 'Leave this empty to keep the secret.', 'impact-pledge' ) : '';
		$rule = __( '0 offers no choice, 1 a tick, and more a list. The connection needs the rule {"choice": {"attribute": "impact_pledges"}}.', 'impact-pledge' );
		$place = __( 'Shown on the order\'s page and in its e-mails. {number} is what the buyer chose.', 'impact-pledge' );
		self::show_field( 'url', 'url', __( 'URL of the connection', 'impact-pledge' ), $values['url'] );
		self::show_field( 'secret', 'password', __( 'Secret', 'impact-pledge' ), '', $keep );
		self::show_field( 'most', 'number', __( 'Most pledges that a buyer can choose', 'impact-pledge' ), (string) $values['most'], $rule );
		self::show_field( 'label', 'text', __( 'Text of the choice', 'impact-pledge' ), $values['label'] );
		self::show_field( 'price', 'text', __( 'Price of each for the buyer', 'impact-pledge' ), $values['price'], __( 'Leave this empty if the shop pays.', 'impact-pledge' ) );
		self::show_field( 'thanks', 'text', __( 'Text after the order', 'impact-pledge' ), $values['thanks'], $place );
		echo '</table>';
		submit_button( $webhook && 'active' !== $webhook->get_status() ? __( 'Save and switch on', 'impact-pledge' ) : __( 'Save', 'impact-pledge' ) );
		echo '</form></div>';
	}

	private static function show_field( string $name, string $type, string $label, string $value, string $help = '' ): void {
		printf(
			'<tr><th scope="row"><label for="%1$s">%2$s</label></th><td><input class="large-text" type="%3$s" id="%1$s" name="%1$s" value="%4$s" autocomplete="off"><p class="description">%5$s</p></td></tr>',
			esc_attr( $name ),
			esc_html( $label ),
			esc_attr( $type ),
			esc_attr( $value ),
			esc_html( $help )
		);
	}
}
