// generated from src/schema.rs: `UPDATE=1 cargo test --test generated` writes it anew.

/** How many texts one call takes, how far up in its word the length of each stands, and the bits of its rank. */
export const TEXTS = 256, LENGTH = 7, RANK = 31;
/** The words of a problem, and how far up in its order the item stands. */
export const PROBLEM = 6, ITEM = 23;
/** How deep a value may nest, and the bytes for what JSON has no word for. */
export const MAX_DEPTH = 64, OTHER = "\x01", UNREADABLE = "\x02", GIVEN_UP = "\x03";
/** The numbers of some codes. */
export const INVALID_TYPE = 0, REQUIRED_MEMBER = 1, UNKNOWN_MEMBER = 2, TOO_FEW_ITEMS = 4, TOO_MANY_ITEMS = 5, NOT_POSITIVE = 6, NOT_FINITE = 7, NOT_ALLOWED = 8, MORE_ISSUES = 18, UNDECIDED = 255;
/** A bit for each place, by its rank, that must be there. */
export const REQUIRED = 0x10007cf;
/** The pointers of the request's places by their ranks, `*` for an item's index. */
export const PLACES = " /reference /recipient /recipient/email /recipient/firstName /recipient/name /pledges /pledges/* /pledges/*/impact /pledges/*/impact/amount /pledges/*/impact/offeringId /pledges/*/detail /pledges/*/detail/name /pledges/*/detail/description /pledges/*/detail/nounSingular /pledges/*/detail/nounPlural /pledges/*/detail/image /pledges/*/detail/externalId /pledges/*/detail/externalUrl /trigger /trigger/date /trigger/phrase /trigger/externalUrl /notifications /notifications/*".split(" ");
/** What a place must be, by its rank: a number in the list of types. */
export const TYPES = "5353334552353333333533343";
