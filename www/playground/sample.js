/** The request that the page begins with. */
export const SAMPLE_KEY = "order-1001";
export const SAMPLE = `${JSON.stringify(
  {
    reference: "order-1001",
    recipient: { email: "ada@example.org", firstName: "Ada" },
    trigger: { phrase: "placed an order", date: "2026-01-31T12:00:00Z" },
    pledges: [
      {
        impact: { amount: 3, offeringId: "tree" },
        detail: {
          name: "Mangroves",
          nounSingular: "tree",
          nounPlural: "trees",
          description: "Planted along the coast of Kenya.",
        },
      },
    ],
    notifications: ["Email"],
  },
  null,
  2,
)}
`;
