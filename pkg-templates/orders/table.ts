/* The table by which bodies are read. `src/pledges/orders/table.rs` describes it. */
import { SYSTEMS, TABLE } from "../generated/orders.ts";

/** A shop system, or a payment service whose checkout is the shop. */
export type System = (typeof SYSTEMS)[number];

/** Paths, of which the first counts that fits, and the name of what is there. */
export type Row = [paths: string[], name?: string];

/** What the table says of one system, in the order of `tests/native/generated/orders_table.rs`. */
export type Table = [
  bodies: Row[],
  order: [ids: Row, currencies: Row, ...others: Row[]],
  payments: Row[],
  tests: Row[],
  line: Row[],
  kinds: Row[],
  refund: Row[],
  unnamed: [
    totals: Row,
    sums: Row,
    lines: Row,
    refundLines: Row,
    orderPairs: Row,
    linePairs: Row,
    refunds: Row,
    products: Row,
    whole: Row,
    orderIds: Row,
    people: Row,
    fullNames: Row,
  ],
];

/** Reads the cells of one system. A row has a cell for each system, and then its name. */
export function tableOf(system: System): Table {
  const column = SYSTEMS.indexOf(system);
  return TABLE.split("\n\n").map((block) =>
    block.split("\n").map((row) => {
      const cells = row.split(" ");
      return [cells[column]!.split(",").filter(Boolean), cells.at(-1)];
    }),
  ) as unknown as Table;
}
