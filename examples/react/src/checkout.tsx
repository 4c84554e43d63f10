import "impact-pledge/badge";
import { pledgeResolver } from "impact-pledge/react-hook-form";
import type { CreatePledgeTransactionRequest } from "impact-pledge/validate";
import { useState } from "react";
import { useForm } from "react-hook-form";

const defaultValues: CreatePledgeTransactionRequest = {
  reference: "order-1001",
  recipient: { email: "" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
};

/** Checks by the rules of the service, with texts for shoppers. Leaves out empty fields. */
const resolver = pledgeResolver();

export function Checkout() {
  const [timelineUrl, setTimelineUrl] = useState("");
  const { register, handleSubmit, setError, formState, watch } = useForm({
    resolver,
    defaultValues,
    mode: "onTouched",
  });
  const { errors, isSubmitting } = formState;
  const amount = errors.pledges?.[0]?.impact?.amount;
  const email = errors.recipient?.email;
  const firstName = errors.recipient?.firstName;

  const placeOrder = handleSubmit(async (order) => {
    try {
      const response = await fetch("/orders", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(order),
      });
      const answer = await response.json();
      if (response.ok) setTimelineUrl(answer.timelineUrl);
      else setError("root", { message: answer.message });
    } catch {
      setError("root", { message: "That did not work. Please try again." });
    }
  });

  if (timelineUrl)
    return (
      <p>
        Thank you! <a href={timelineUrl}>See your page</a>
      </p>
    );
  return (
    <form onSubmit={placeOrder} noValidate>
      <h1>Plant trees with your order</h1>
      <p>
        <label htmlFor="trees">Trees</label>{" "}
        <input
          id="trees"
          type="number"
          aria-invalid={Boolean(amount)}
          aria-describedby="trees-problem"
          {...register("pledges.0.impact.amount")}
        />{" "}
        <span id="trees-problem">{amount?.message}</span>{" "}
        <impact-badge
          amount={watch("pledges.0.impact.amount")}
          one="{} tree with this order"
          other="{} trees with this order"
        />
      </p>
      <p>
        <label htmlFor="email">E-mail address</label>{" "}
        <input
          id="email"
          type="email"
          autoComplete="email"
          aria-invalid={Boolean(email)}
          aria-describedby="email-problem"
          {...register("recipient.email")}
        />{" "}
        <span id="email-problem">{email?.message}</span>
      </p>
      <p>
        <label htmlFor="first-name">First name (optional)</label>{" "}
        <input
          id="first-name"
          autoComplete="given-name"
          aria-invalid={Boolean(firstName)}
          aria-describedby="first-name-problem"
          {...register("recipient.firstName")}
        />{" "}
        <span id="first-name-problem">{firstName?.message}</span>
      </p>
      <button type="submit" disabled={isSubmitting}>
        Place order
      </button>
      <p role="alert">{errors.root?.message}</p>
    </form>
  );
}
