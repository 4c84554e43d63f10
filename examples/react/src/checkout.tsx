import { standardSchemaResolver } from "@hookform/resolvers/standard-schema";
import { createPledgeTransactionSchema, type CreatePledgeTransactionRequest } from "impact-pledge/validate";
import { useState } from "react";
import { useFieldArray, useForm } from "react-hook-form";

const defaultValues: CreatePledgeTransactionRequest = {
  reference: "order-1001",
  recipient: { email: "" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
};

export function Checkout() {
  const [sent, setSent] = useState("");
  const { register, control, handleSubmit, formState } = useForm<CreatePledgeTransactionRequest>({
    // The rules of the service, as you type.
    resolver: standardSchemaResolver(createPledgeTransactionSchema),
    defaultValues,
    mode: "onTouched",
  });
  const { fields, append } = useFieldArray({ control, name: "pledges" });
  const { errors, isSubmitting } = formState;

  async function placeOrder(order: CreatePledgeTransactionRequest) {
    const response = await fetch("/orders", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(order) });
    const { timelineUrl } = await response.json();
    setSent(timelineUrl);
  }

  if (sent) return <p>Thank you! <a href={sent}>See what becomes of it</a></p>;
  return (
    <form onSubmit={handleSubmit(placeOrder)} noValidate>
      <h1>Plant trees with your order</h1>
      {fields.map(({ id }, index) => (
        <p key={id}>
          <label htmlFor={id}>Trees</label>
          <input id={id} type="number" aria-invalid={Boolean(errors.pledges?.[index]?.impact?.amount)} {...register(`pledges.${index}.impact.amount`, { valueAsNumber: true })} />
          <span role="alert">{errors.pledges?.[index]?.impact?.amount?.message}</span>
        </p>
      ))}
      <button type="button" onClick={() => append({ impact: { amount: 1, offeringId: "plastic-kg" } })}>Add plastic</button>
      <p>
        <label htmlFor="email">E-mail address</label>
        <input id="email" type="email" autoComplete="email" aria-invalid={Boolean(errors.recipient?.email)} {...register("recipient.email")} />
        <span role="alert">{errors.recipient?.email?.message}</span>
      </p>
      <button disabled={isSubmitting}>Place order</button>
    </form>
  );
}
