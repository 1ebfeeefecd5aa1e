// Samples to try: one faithful, and three that go wrong in different ways.
const BRIDGE =
  "The Tarn Bridge was designed by Ada Holst and opened on 3 May 1931. It replaced a ferry and is 214 metres long. " +
  "Two lanes for cars and a path for bicycles cross it. In 1987 a storm damaged the eastern pier, and the bridge was " +
  "closed for five months. The repair cost 2.3 million crowns, a third of which the county paid.";

const TRIAL =
  "We compared a daily walk of 30 minutes with usual care in 240 adults with mild knee pain. After six months the " +
  "walkers reported less pain (mean difference 1.1 points on a scale of 10). Sleep did not differ between the groups. " +
  "Nine walkers and eleven controls left the trial. No serious harm was seen.";

export const EXAMPLES = [
  {
    name: "Faithful",
    document: BRIDGE,
    question: "What do we know about the Tarn Bridge?",
    answer: "Ada Holst designed the Tarn Bridge. It opened on 3 May 1931 and is 214 metres long.",
  },
  {
    name: "An invented sentence",
    document: BRIDGE,
    question: "What do we know about the Tarn Bridge?",
    answer: "Ada Holst designed the Tarn Bridge. The ferry company sued the city of Lindmoor over it.",
  },
  {
    name: "A wrong number",
    document: BRIDGE,
    question: "How long was the bridge closed after the storm?",
    answer: "The storm of 1987 damaged the eastern pier. The bridge was then closed for eleven months.",
  },
  {
    name: "A bold summary",
    task: "summarization",
    document: TRIAL,
    question: "",
    answer:
      "A trial with 240 adults compared walking with usual care. Walkers had less pain after six months. " +
      "They also slept better. Doctors should prescribe walking to everybody with knee pain.",
  },
];
