/** What the shop offers, as only its server may say it: a page's word on this is not taken. */
const OFFERS = {
  tree: {
    name: "Shade trees",
    description: "Planted on the hills that our beans grow on.",
    nounSingular: "tree",
    nounPlural: "trees",
    image: "/images/tree.svg",
  },
  "plastic-kg": {
    name: "River plastic",
    description: "Picked out of rivers before it reaches the sea.",
    nounSingular: "kilo of plastic",
    nounPlural: "kilos of plastic",
    image: "/images/plastic.svg",
  },
};

/** The offerings of an order that the shop does not have. */
export const unknownOffers = ({ pledges }) =>
  pledges.map(({ impact }) => impact.offeringId).filter((id) => !Object.hasOwn(OFFERS, id));

/**
 * An order as the shop vouches for it: from the page come the order's number and time, who it is for and how much;
 * the rest is put in here.
 */
export function vouched({ reference, recipient, pledges, trigger }, origin) {
  return {
    reference,
    recipient,
    pledges: pledges.map(({ impact }) => ({ impact, detail: detail(impact.offeringId, origin) })),
    trigger: {
      date: trigger?.date ?? new Date().toISOString(),
      phrase: "placed an order at Small Hours Coffee",
      externalUrl: `${origin}/`,
    },
  };
}

function detail(id, origin) {
  const offer = OFFERS[id];
  return { ...offer, image: origin + offer.image, externalId: id };
}
