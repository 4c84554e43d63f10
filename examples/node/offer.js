/** The shop's offer. A page can send anything, so only the number of trees and the recipient are taken from it. */
const MOST_TREES = 100;

/** Returns the issues of a valid request that this shop does not offer. */
export function offerIssues({ pledges: [{ impact }] }) {
  if (Number.isInteger(impact.amount) && impact.amount <= MOST_TREES) return [];
  const path = ["pledges", 0, "impact", "amount"];
  return [{ path, name: path.join("."), message: `Choose 1 to ${MOST_TREES} whole trees` }];
}

/** Returns the shop's own order for a request without issues. */
export const orderOf = ({ recipient, pledges: [{ impact }] }) => ({
  reference: "order-1001", // your shop's number of this order
  recipient,
  pledges: [{ impact: { amount: impact.amount, offeringId: "tree" } }],
});
