/** The product: what can be added to it is a badge. */
import "impact-pledge/badge";
