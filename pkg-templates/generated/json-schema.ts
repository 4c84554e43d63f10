// generated from src/pledges/schema.rs: `UPDATE=1 cargo test --test native generated` writes it anew.

/** Returns a new copy of the schema, which the caller may change. */
export const jsonSchema = (): Record<string, unknown> => ({"additionalProperties":false,
  "description":"What a shop sends to record the pledges of one transaction.",
  "required":["reference","recipient","pledges"],"type":"object",
  "properties":{
    "notifications":{"description":"The services that alert the recipient, at most three.","maxItems":3,
      "type":"array",
      "items":{"description":"A service that alerts the recipient.",
        "enum":["Email","MessagingServiceA","MessagingServiceB","MessagingServiceC"],"type":"string"}},
    "pledges":{"description":"The pledges, at least one.","minItems":1,"type":"array",
      "items":{"additionalProperties":false,"description":"An impact commitment tied to one impact offering.",
        "required":["impact"],"type":"object",
        "properties":{
          "detail":{"additionalProperties":false,"description":"What the timeline shows of it.",
            "type":"object",
            "properties":{
              "description":{"description":"Description of the pledge.","type":"string"},
              "externalId":{"description":"Your ID of the item, such as a line-item code.","type":"string"},
              "externalUrl":{"description":"Address of the item.","format":"uri","type":"string"},
              "image":{"description":"Image shown on the timeline.","format":"uri","type":"string"},
              "name":{"description":"Name of the pledge.","type":"string"},
              "nounPlural":{"description":"Plural noun for the item category.","type":"string"},
              "nounSingular":{"description":"Singular noun for the item category.","type":"string"}}},
          "impact":{"additionalProperties":false,"description":"What is pledged, and how much.",
            "required":["amount","offeringId"],"type":"object",
            "properties":{
              "amount":{"description":"Quantity pledged towards the offering, greater than 0.",
                "exclusiveMinimum":0,"type":"number"},
              "offeringId":{"description":"ID of the impact offering.","type":"string"}}}}}},
    "recipient":{"additionalProperties":false,"description":"Who the pledges are for.","required":["email"],
      "type":"object",
      "properties":{
        "email":{"description":"E-mail address.","format":"email","type":"string"},
        "firstName":{"description":"First name.","type":"string"},
        "name":{"description":"Full name.","type":"string"}}},
    "reference":{"description":"Your unique reference, such as an order ID.","type":"string"},
    "trigger":{"additionalProperties":false,"description":"The action that caused the pledges.","type":"object",
      "properties":{
        "date":{"description":"When the action was triggered.","format":"date-time","type":"string"},
        "externalUrl":{"description":"Address of the action.","format":"uri","type":"string"},
        "phrase":{"description":"Action phrase, a short verb phrase such as \"placed an order\".",
          "type":"string"}}}}});
