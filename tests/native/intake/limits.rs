//! Tests that limits on deliveries count by connection: all shops of a shop system send from its addresses.

use super::pages::{order, rules};
use super::{SECRET, Shop, connect};
use std::rc::Rc;
use support::service::{PATH, TestRequest};

const ADDRESS: &str = "203.0.113.7";

/// Two shops that are connected to a unit, with the IDs of their connections.
struct Shops {
    shop: Shop,
    connections: [String; 2],
}

impl Shops {
    fn new() -> Self {
        let shop = Shop::new("woocommerce", "live", &rules());
        connect(
            &shop.dashboard,
            "live",
            ("woocommerce", "other.example", ""),
            &rules().to_string(),
        );
        let sql = "SELECT substr(name, 12) FROM published WHERE name LIKE 'connection:%'";
        let connections = shop.dashboard.ledger.sql(sql).try_into().unwrap();
        Shops { shop, connections }
    }

    /// Sends an order to each connection, from one address. Returns the answers' statuses.
    fn send(&self) -> [u16; 2] {
        let body = order(1).to_string();
        let sent = |connection: &String| {
            let request = self.shop.delivery(connection, body.as_bytes(), "", SECRET);
            let request = request.with_header("cf-connecting-ip", ADDRESS);
            self.shop.dashboard.service.send(&request).status
        };
        self.connections.each_ref().map(sent)
    }
}

#[test]
fn a_connection_that_holds_its_share_of_memory_leaves_room_for_another() {
    let shops = Shops::new();
    let in_flight = &shops.shop.dashboard.service.caches.in_flight;
    let mut held = in_flight.reservation(format!("orders {}", shops.connections[0]));
    held.resize(8 * 1024 * 1024).unwrap();
    assert_eq!(shops.send(), [503, 200]);
    drop(held);
    assert_eq!(shops.send(), [200, 200]);
}

#[test]
fn an_address_with_too_many_refused_keys_sends_orders() {
    let shops = Shops::new();
    let limit = Rc::default();
    let refused = |number: u32| {
        let key = format!("service_sk_test_wrong{number}");
        let request = TestRequest::new("POST", PATH, &key).with_header("cf-connecting-ip", ADDRESS);
        let request = TestRequest { limit: Some(Rc::clone(&limit)), ..request };
        shops.shop.dashboard.service.send(&request).status
    };
    assert_eq!([0, 1, 2, 3].map(refused), [401, 401, 401, 429]);
    assert_eq!(shops.send(), [200, 200]);
}
