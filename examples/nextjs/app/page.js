import { Checkout } from "./checkout";

export default function Page() {
  return (
    <main>
      <h1>Plant trees with your order</h1>
      <Checkout />
    </main>
  );
}
