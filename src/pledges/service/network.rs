//! The networks that requests come from.

use crate::pledges::api::header;
use crate::pledges::hash::first_bytes;
use crate::pledges::http::Request;
use sha2::{Digest as _, Sha256};
use std::net::{IpAddr, Ipv6Addr};

/// The network that requests come from: an IPv4 address, the first 64 bits of an IPv6 address, or the zone of
/// a Worker. The limit on refused API keys applies to each network.
///
/// A provider assigns the first 64 bits of an IPv6 address to one customer. A zone is represented by 64 bits
/// of its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network(u64);

/// The one address from which Cloudflare sends the requests of Workers in other zones.
const WORKERS: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2a06, 0x98c0, 0x3600, 0, 0, 0, 0, 0x103));

impl Network {
    /// Returns the network that a request comes from; `None` if the platform does not give the request's
    /// address.
    pub fn of(request: &impl Request) -> Option<Self> {
        let address = request.header(header::CF_CONNECTING_IP)?.parse().ok()?;
        // The platform sets the header only for this address. From other addresses, anyone can send it.
        let zone = (address == WORKERS).then(|| request.header(header::CF_WORKER)).flatten();
        Some(zone.map_or_else(|| Network::of_address(address), |zone| Network::of_zone(&zone)))
    }

    fn of_address(address: IpAddr) -> Self {
        Network(match address {
            IpAddr::V4(address) => u64::from(address.to_bits()),
            IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
        })
    }

    fn of_zone(zone: &str) -> Self {
        Network(u64::from_be_bytes(first_bytes(Sha256::digest(zone.as_bytes()))))
    }

    /// Returns 16 hexadecimal digits, the key for the platform's rate limit.
    pub fn name(self) -> String {
        base16ct::lower::encode_string(&self.0.to_be_bytes())
    }
}
