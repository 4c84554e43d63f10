<?php
/**
 * A stand-in for the functions of WordPress and WooCommerce that the plugin in examples/woocommerce uses. No package registry has
 * WooCommerce. It does what WordPress 7.1 and WooCommerce 11.0 do with the plugin, in the same order, but escapes and checks less:
 * what the plugin does not escape itself arrives unescaped. A process is one request; the database is the file /database.
 */

namespace Automattic\WooCommerce\Utilities {
	final class FeaturesUtil {
		public static function declare_compatibility( $feature, $file, $is_compatible ): void {
			\Site::$compatible[ $feature ] = $is_compatible;
		}
	}
}

namespace Automattic\WooCommerce\StoreApi\Exceptions {
	final class RouteException extends \Exception {
		public function __construct( $code, $message, $status ) {
			parent::__construct( $message, $status );
		}
	}
}

namespace {
	const ABSPATH = '/';

	final class Site {
		/** @var array options, webhooks, orders, session and customer: what is kept between requests */
		public static $kept = array( 'options' => array(), 'webhooks' => array(), 'orders' => array(), 'session' => array(), 'customer' => array() );
		public static $step = array();
		public static $hooks = array();
		public static $compatible = array();
		public static $screens = array();
		public static $fields = array();
		public static $fees = array();
		public static $result = array( 'status' => 200 );

		public static function open(): void {
			self::$kept = is_file( '/database' ) ? unserialize( file_get_contents( '/database' ) ) : self::$kept;
			self::$step = json_decode( file_get_contents( '/step.json' ), true );
			array_walk_recursive( $_POST, fn( &$value ) => $value = addslashes( $value ) ); // as WordPress does
			ob_start();
			register_shutdown_function( array( self::class, 'close' ) );
		}

		public static function close(): void {
			file_put_contents( '/database', serialize( self::$kept ) );
			$html = ob_get_clean();
			$state = array( 'html' => $html, 'fees' => self::$fees, 'compatible' => self::$compatible, 'fields' => self::$fields );
			echo json_encode( self::$result + $state + array( 'kept' => self::$kept ), JSON_THROW_ON_ERROR );
		}
	}

	// ---- WordPress -----------------------------------------------------------------------------------------

	function add_action( $hook, $call, $priority = 10, $count = 1 ) {
		Site::$hooks[ $hook ][] = array( $call, $count );
	}
	function do_action( $hook, ...$given ) {
		foreach ( Site::$hooks[ $hook ] ?? array() as [ $call, $count ] ) {
			$call( ...array_slice( $given, 0, $count ) );
		}
	}
	function register_deactivation_hook( $file, $call ) {
		add_action( 'deactivate', $call );
	}
	function register_uninstall_hook( $file, $call ) {
		add_action( 'uninstall', $call );
	}
	function get_option( $name, $default ) {
		return Site::$kept['options'][ $name ] ?? $default;
	}
	function update_option( $name, $value ) {
		Site::$kept['options'][ $name ] = $value;
	}
	function delete_option( $name ) {
		unset( Site::$kept['options'][ $name ] );
	}
	function __( $text, $domain ) {
		return 'impact-pledge' === $domain ? $text : throw new Exception( "another text domain: $domain" );
	}
	function esc_html( $text ) {
		return htmlspecialchars( $text, ENT_QUOTES, 'UTF-8', false ); // `false`: WordPress keeps entities, too
	}
	function esc_html__( $text, $domain ) {
		return esc_html( __( $text, $domain ) );
	}
	function esc_attr( $text ) {
		return esc_html( $text );
	}
	function esc_url( $url ) {
		return esc_html( $url );
	}
	function wp_unslash( $value ) {
		return is_array( $value ) ? array_map( 'wp_unslash', $value ) : stripslashes( $value );
	}
	function sanitize_text_field( $text ) {
		return trim( preg_replace( '/[\r\n\t ]+/', ' ', wp_strip_all_tags( $text ) ) );
	}
	function wp_strip_all_tags( $text ) {
		return trim( strip_tags( preg_replace( '@<(script|style)[^>]*?>.*?</\1>@si', '', $text ) ) );
	}
	function current_user_can( $capability ) {
		return 'manage_woocommerce' === $capability && 'manager' === ( Site::$step['as'] ?? 'manager' );
	}
	function get_current_user_id() {
		return 7;
	}
	function nonce( $action ) {
		return md5( $action );
	}
	function wp_nonce_field( $action ) {
		echo '<input type="hidden" name="_wpnonce" value="' . nonce( $action ) . '">';
	}
	function check_admin_referer( $action ) {
		if ( nonce( $action ) !== ( $_POST['_wpnonce'] ?? '' ) ) {
			wp_die( 'The link you followed has expired.', '', array( 'response' => 403 ) );
		}
	}
	function wp_die( $text, $title, $given ) {
		echo $text;
		Site::$result['status'] = $given['response'];
		exit;
	}
	function wp_safe_redirect( $url ) {
		Site::$result = array( 'status' => 302, 'location' => $url ) + Site::$result;
	}
	function admin_url( $path ) {
		return "https://shop.example/wp-admin/$path";
	}
	function add_submenu_page( $parent, $title, $label, $capability, $name, $call ) {
		Site::$screens[ $name ] = array( $capability, $call );
		return "woocommerce_page_$name";
	}
	function submit_button( $text ) {
		echo '<input type="submit" value="' . esc_attr( $text ) . '">';
	}
	final class WP_Error {
		public $messages = array();
		public function __construct( $code = '', $message = '' ) {
			$this->messages = array_filter( array( $message ) );
		}
		public function add( $code, $message ) {
			$this->messages[] = $message;
		}
		public function get_error_message() {
			return $this->messages[0] ?? '';
		}
	}
	function is_wp_error( $value ) {
		return $value instanceof WP_Error;
	}

	// ---- WooCommerce ---------------------------------------------------------------------------------------

	/** @method mixed get_status() and others: a getter and a setter for each property */
	final class WC_Webhook {
		private $values = array( 'id' => 0, 'status' => 'disabled', 'delivery_url' => '', 'failure_count' => 0 );
		public function __construct( $id = 0 ) {
			if ( $id ) {
				$this->values = Site::$kept['webhooks'][ $id ] ?? throw new Exception( 'Invalid webhook.' );
			}
		}
		public function __call( $name, $given ) {
			$property = substr( $name, 4 );
			return 0 === strpos( $name, 'set_' ) ? $this->values[ $property ] = $given[0] : $this->values[ $property ];
		}
		public function save() {
			$this->values['id'] = $this->values['id'] ?: count( Site::$kept['webhooks'] ) + 1;
			Site::$kept['webhooks'][ $this->values['id'] ] = $this->values;
		}
		public function delete( $is_final ) {
			unset( Site::$kept['webhooks'][ $this->values['id'] ] );
		}
		public function deliver_ping() {
			Site::$result['pings'] = 1 + ( Site::$result['pings'] ?? 0 );
			$status = Site::$step['answer'] ?? 200;
			return 200 === $status ? true : new WP_Error( 'error', "Error: Delivery URL returned response code: $status<b>" );
		}
	}
	function wc_get_webhook( $id ) {
		$webhook = new WC_Webhook( $id );
		return $webhook->get_id() ? $webhook : null;
	}

	class WC_Data {
		public $meta = array();
		public function get_meta( $key ) {
			return $this->meta[ $key ] ?? '';
		}
		public function update_meta_data( $key, $value ) {
			$this->meta[ $key ] = $value;
		}
		public function delete_meta_data( $key ) {
			unset( $this->meta[ $key ] );
		}
	}
	final class WC_Customer extends WC_Data {
		public function save() {
			Site::$kept['customer'] = $this->meta;
		}
	}
	final class WC_Order extends WC_Data {
		public $id;
		public $status = 'processing';
		public $fees = array();
		public function save() {
			$this->id = $this->id ?? count( Site::$kept['orders'] ) + 1;
			Site::$kept['orders'][ $this->id ] = array( 'id' => $this->id, 'status' => $this->status, 'meta' => $this->meta, 'fees' => $this->fees );
			Site::$result['order'] = Site::$kept['orders'][ $this->id ];
		}
		public function has_status( $statuses ) {
			return in_array( $this->status, $statuses, true );
		}
	}
	function wc_get_order( $id ) {
		$kept = Site::$kept['orders'][ $id ] ?? null;
		if ( ! $kept ) {
			return false;
		}
		$order = new WC_Order();
		[ 'id' => $order->id, 'status' => $order->status, 'meta' => $order->meta ] = $kept;
		return $order;
	}
	final class Session {
		public function get( $name ) {
			return Site::$kept['session'][ $name ] ?? null;
		}
		public function set( $name, $value ) {
			Site::$kept['session'][ $name ] = $value;
		}
	}
	final class Cart {
		public function calculate_totals() {
			Site::$fees = array();
			do_action( 'woocommerce_cart_calculate_fees', $this );
		}
		public function add_fee( $name, $amount ) {
			Site::$fees[] = array( 'name' => $name, 'amount' => $amount );
		}
	}
	function WC() {
		static $woocommerce = null;
		if ( ! $woocommerce ) {
			$woocommerce = (object) array( 'session' => new Session(), 'customer' => new WC_Customer(), 'cart' => new Cart() );
			$woocommerce->customer->meta = Site::$kept['customer'];
		}
		return $woocommerce;
	}
	function wc_price( $price ) {
		return '<span class="amount">&euro;' . number_format( $price, 2 ) . '</span>';
	}
	function woocommerce_form_field( $name, $field, $value ) {
		[ 'type' => $type, 'label' => $label, 'class' => $class, 'options' => $options ] = $field;
		echo '<p class="' . implode( ' ', $class ) . '"><label>' . $label;
		if ( 'checkbox' === $type ) {
			echo "<input type=\"checkbox\" name=\"$name\" value=\"1\"" . ( '1' === $value ? ' checked' : '' ) . '>';
		}
		foreach ( $options as $number => $text ) {
			echo "<option value=\"$number\"" . ( (string) $number === $value ? ' selected' : '' ) . '>' . esc_html( $text ) . '</option>';
		}
		echo '</label></p>';
	}
	function woocommerce_register_additional_checkout_field( $field ) {
		Site::$fields[ $field['id'] ] = $field;
	}
}
