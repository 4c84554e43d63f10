// generated from src/pledges/schema.rs: `UPDATE=1 cargo test --test native generated` writes it anew.

/** The number of words of a compact issue, and the lowest bit of the item in its sort key. */
export const ISSUE_WORDS = 6, ITEM_SHIFT = 23;
/** The maximum depth of a value, and the markers for values that JSON cannot represent. */
export const MAX_DEPTH = 64, OTHER = "\x01", ABSENT = "\x02", UNREADABLE = "\x03", GIVEN_UP = "\x04";
/** The numbers that stand for some codes. */
export const INVALID_TYPE = 0, REQUIRED_MEMBER = 1, UNKNOWN_MEMBER = 2, DUPLICATE_MEMBER = 3, TOO_FEW_ITEMS = 4, TOO_MANY_ITEMS = 5, NOT_POSITIVE = 6, NOT_FINITE = 7, NOT_ALLOWED = 8, MORE_ISSUES = 18, UNDECIDED = 255;
/** A bit for each required node, by its index. */
export const REQUIRED = 0x10007cf;
/** The pointers of the request's nodes by their indices, with `*` for an item. */
export const POINTERS = " /reference /recipient /recipient/email /recipient/firstName /recipient/name /pledges /pledges/* /pledges/*/impact /pledges/*/impact/amount /pledges/*/impact/offeringId /pledges/*/detail /pledges/*/detail/name /pledges/*/detail/description /pledges/*/detail/nounSingular /pledges/*/detail/nounPlural /pledges/*/detail/image /pledges/*/detail/externalId /pledges/*/detail/externalUrl /trigger /trigger/date /trigger/phrase /trigger/externalUrl /notifications /notifications/*".split(" ");
/** The types of the nodes by their indices: a digit each, a number in the list of types. */
export const TYPES = "5353334552353333333533343";
