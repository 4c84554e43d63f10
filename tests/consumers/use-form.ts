// The three ways to write `useForm` with `pledgeResolver`, also compiled by each TypeScript of the matrix.
import { pledgeResolver, type PledgeValues } from "impact-pledge/react-hook-form";
import { useForm } from "react-hook-form";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._equal: Equal<A, B> extends true ? [] : [never]) => {};

const hoisted = pledgeResolver({ maxIssues: 5 });
const optional = pledgeResolver({ optional: true, timeZone: "Europe/Berlin" });

/**
 * A shop's own type for the values of a form. Its arrays are mutable, and it has no further members.
 */
interface Values {
  coupon: string;
  reference: string;
  recipient: { email: string; firstName?: string };
  pledges: { impact: { amount: number; offeringId: string } }[];
}
/** The values as inputs hold them: amounts are texts. */
interface Typed extends Omit<Values, "pledges"> {
  pledges: { impact: { amount: string; offeringId: string } }[];
}
type Chosen = Omit<Values, "pledges"> & Partial<Pick<Values, "pledges">>;

export function threeWays() {
  const inline = useForm<Typed, unknown, PledgeValues<Typed>>({
    resolver: pledgeResolver({ optional: true }),
  });
  const outside = useForm<Typed, unknown, PledgeValues<Typed>>({ resolver: optional });
  useForm<Typed, unknown, PledgeValues<Typed, false>>({ resolver: pledgeResolver() });
  useForm<Values, unknown, PledgeValues<Values>>({ resolver: hoisted });
  useForm<Values>({ resolver: pledgeResolver() });
  useForm<Values>({ resolver: hoisted });
  useForm<Chosen>({ resolver: pledgeResolver({ optional: true }) });
  useForm<Chosen>({ resolver: optional });
  // @ts-expect-error there may be no pledges
  useForm<Values>({ resolver: optional });
  // @ts-expect-error there, an amount is a number
  useForm<Typed>({ resolver: pledgeResolver() });
  interface Nested {
    coupon: string;
    cart: { pledge: Omit<Values, "coupon"> };
  }
  const nested = pledgeResolver({ optional: true, name: "cart.pledge" });
  useForm<Nested, unknown, PledgeValues<Nested, true, "cart.pledge">>({ resolver: nested });
  useForm<Nested>({ resolver: pledgeResolver({ name: "cart.pledge" }) });
  return [inline, outside].map(({ handleSubmit }) =>
    handleSubmit((order) => {
      const amount: number | undefined = order.pledges?.[0]?.impact.amount;
      same<typeof order.coupon, string>();
      return amount;
    }),
  );
}
