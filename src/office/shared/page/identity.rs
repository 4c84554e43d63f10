/// The person who sent a request, as identified by Cloudflare Access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity<'i> {
    /// This Worker is not behind Access.
    None,
    /// Cloudflare Access admitted a request without an e-mail address, such as one with a service token.
    WithoutAddress,
    /// Access did not answer in time.
    Unknown,
    /// The person's e-mail address.
    Address(&'i str),
}
