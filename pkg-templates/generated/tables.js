// generated from src/schema.rs: `UPDATE=1 cargo test --test generated` writes it anew.

/** How many texts one call takes, how far up in its word the length of each stands, and the bits of its rank. */
export const TEXTS = 256, LENGTH = 7, RANK = 31;
/** The words of a problem, and how far up in its order the item stands. */
export const PROBLEM = 6, ITEM = 23;
/** How deep a value may nest, and the bytes for what JSON has no word for. */
export const MAX_DEPTH = 64, OTHER = "\x01", UNREADABLE = "\x02", GIVEN_UP = "\x03";
/** The numbers of some codes. */
export const INVALID_TYPE = 0, REQUIRED_MEMBER = 1, UNKNOWN_MEMBER = 2, TOO_FEW_ITEMS = 4, TOO_MANY_ITEMS = 5, NOT_POSITIVE = 6, NOT_FINITE = 7, NOT_ALLOWED = 8, UNKNOWN_POINTER = 17, MORE_ISSUES = 18, UNDECIDED = 255;
/** A bit for each place, by its rank, that must be there. */
export const REQUIRED = 0x10007cf;
/** The codes by their numbers. */
export const CODES = "invalid_type required unknown_member duplicate_member too_few_items too_many_items not_positive not_finite not_allowed invalid_email invalid_uri invalid_date_time lone_surrogate invalid_utf8 too_deep malformed_json unreadable unknown_pointer more_issues".split(" ");
/** The pointers of the request's places by their ranks, `*` for an item's index. */
export const PLACES = " /reference /recipient /recipient/email /recipient/firstName /recipient/name /pledges /pledges/* /pledges/*/impact /pledges/*/impact/amount /pledges/*/impact/offeringId /pledges/*/detail /pledges/*/detail/name /pledges/*/detail/description /pledges/*/detail/nounSingular /pledges/*/detail/nounPlural /pledges/*/detail/image /pledges/*/detail/externalId /pledges/*/detail/externalUrl /trigger /trigger/date /trigger/phrase /trigger/externalUrl /notifications /notifications/*".split(" ");
/** What a place must be, by its rank: a number in the list of types. */
export const TYPES = "5353334552353333333533343";
/** The messages by their codes: a text, or a beginning, what may follow, and what stands behind that. After a blank at the end comes a number, a type or a list. */
export const MESSAGES = [
  ["must be ",["null","a boolean","a number","a string","an array","an object","a value that JSON cannot carry"],", not "],
  "is required",
  "is not a member of the contract; allowed here are ",
  "must appear only once in its object",
  "must have at least 1 item",
  "must have at most 3 items",
  "must be greater than 0",
  "must be a finite number, at most about 1.8e308",
  "must be one of `Email`, `MessagingServiceA`, `MessagingServiceB` or `MessagingServiceC`",
  "must be an e-mail address such as `ada@example.org`",
  "must be a URI with a scheme such as `https://example.org/orders/1`",
  "must be an RFC 3339 date-time such as `2026-01-31T12:00:00Z`",
  "must be Unicode text, without half of a surrogate pair",
  "must be UTF-8",
  "must not nest deeper than 64 levels",
  ["must be JSON: ",["a value","a value or the end of the array or object","a comma or the end of the array or object","a member's name in double quotes","a colon","the end of the text","a digit","an escape instead of a control character","an escape that JSON has","four hexadecimal digits","the closing quote of a string"]," expected at byte "],
  "could not be read",
  "is not a place in the request",
  "has more problems than these: another ",
];
