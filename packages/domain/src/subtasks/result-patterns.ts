/**
 * The sentence patterns of `result-text.ts`. All are anchored at the start of a sentence and bounded, so that they take linear time.
 * Apostrophes are straight, and list markers and emphasis are removed before a sentence is matched.
 */

const alternatives = (words: readonly string[]): string => words.map((word) => word.replaceAll(' ', String.raw`\s+`)).join('|')

/** Verbs of work in their base form: what an announced step begins with. */
const BASE_VERBS = alternatives(
  `add analyse analyze apply ask assess begin build call check clean collect compare compile complete compute continue convert count create
  debug deliver deploy describe determine dig do document draft edit ensure evaluate examine execute explore extract fetch figure file fill find
  finish fix gather generate get give go grep handle help identify implement improve inspect install investigate keep load locate look make map
  measure merge migrate move open organise organize outline parse perform plan prepare proceed process provide pull push put query read refactor
  remove rename replace report reproduce research resolve respond return review revise rewrite run scan search see send set share show solve sort
  split start study submit summarise summarize take tell test think trace track translate try turn update upgrade use validate verify wait walk work
  write`
    .trim()
    .split(/\s+/),
)

/** Verbs of work in progress, as in "Looking into it". */
const GERUNDS = alternatives(
  `analysing analyzing beginning browsing building checking collecting compiling continuing creating debugging digging diving drafting examining
  executing exploring fetching heading jumping parsing pulling querying setting tracing tracking
  fixing gathering generating getting going implementing initialising initializing inspecting investigating kicking loading looking making moving
  opening planning preparing proceeding processing reading reviewing running scanning searching starting taking testing thinking trying updating
  verifying waiting working writing`
    .trim()
    .split(/\s+/),
)

/** Verbs of finding out, which no recommendation begins with. */
const EXPLORING_VERBS = alternatives(
  `analyse analyze begin check collect dig examine explore figure find gather go identify inspect investigate look open read research review search see
  start study take think understand wait`
    .trim()
    .split(/\s+/),
)

const flagged = (source: string) => new RegExp(source, 'iu')

/** Words before the main clause: "So, first", "Before I start,". */
const LEAD = String.raw`(?:(?:so|and|but|now|first|firstly|next|then|finally|lastly|secondly|also|afterwards|meanwhile|today|currently|for now|to start|to begin|well|here|yes|yeah|yep|no|right|good|i think|i believe|i guess|perhaps|maybe|hmm|sorry|unfortunately|however),?\s+){0,3}`
const CLAUSE = String.raw`(?:(?:to|before|once|after|when|as|in|for|from|with|if|while|by|at)\b[^,]{1,80},\s+)?`
const START = `^${LEAD}${CLAUSE}${LEAD}`

const ADVERBS = String.raw`(?:(?:now|first|then|just|still|also|already|currently|gladly|actively|immediately|quickly)\s+){0,2}`
const WILL = String.raw`(?:'ll|\s+will|\s+shall|'m\s+going\s+to|\s+am\s+going\s+to|'re\s+going\s+to|\s+are\s+going\s+to|'m\s+gonna|'m\s+about\s+to|\s+am\s+about\s+to|\s+plan\s+to|\s+intend\s+to|\s+aim\s+to|'m\s+planning\s+to|\s+am\s+planning\s+to)\b(?!\s+(?:not|never)\b)`
const WANT = String.raw`\s+(?:want\s+to|need\s+to|have\s+to|must|should|would\s+like\s+to)\b|'d\s+like\s+to\b|'ve\s+got\s+to\b`
const SAY = String.raw`(?!\s+(?:note|mention|say|admit|stress|emphasi[sz]e|highlight|point\s+out|add|know|clarify|ask|confirm)\b)`
const OUGHT = String.raw`\s+(?:need\s+to|have\s+to|must|should)\b|'ve\s+got\s+to\b`
const NEXT = String.raw`(?:\s+(?:now|first|then|also|just|quickly|need\s+to|have\s+to|be)){0,2}\s+`
const BEGIN = String.raw`(?:'d|\s+would|\s+can)\s+(?:now\s+)?(?:start|begin|proceed)\b`

/**
 * "I will …", "Let me …", "I'm going to …": an announcement of work. "We should use X" and "We will lose data" are a recommendation and a prediction: of
 * a "we", only verbs of work count.
 */
export const INTENTION = flagged(
  `${START}(?:i(?:\\s+(?:now|first|then|also|just|still))?(?:${WILL}|(?:${WANT})${SAY}|${BEGIN})|we(?:\\s+(?:now|first|then|also|just|still))?(?:${WILL}${NEXT}(?:${BASE_VERBS}|${GERUNDS})\\b|(?:${OUGHT})${NEXT}(?:${EXPLORING_VERBS})\\b|(?:\\s+(?:want|would\\s+like)\\s+to|'d\\s+like\\s+to)\\b${SAY}|${BEGIN})|(?:(?:let\\s+me|let\\s+us|lemme)\\b(?!\\s+know\\b)|let's\\b(?!.*\\b(?:was|were|been)\\b))|(?:going\\s+to|gonna|about\\s+to|will)\\s+${ADVERBS}(?:${BASE_VERBS})\\b|will\\s+(?:do|follow\\s+up|be\\s+back)\\b|time\\s+to\\s+(?:${BASE_VERBS})\\b)`,
)

/** "I'm working on …": work that goes on. */
export const ONGOING = flagged(`${START}(?:i|we)(?:'m|\\s+am|'re|\\s+are)\\s+${ADVERBS}(?:${GERUNDS})\\b`)

/** "Looking into it now.", without a subject. A statement about an activity has a verb of its own, or a comma or colon before its finding. */
export const ELIDED = flagged(`^${ADVERBS}(?:${GERUNDS})\\b`)
export const FINITE_VERB =
  /[,:=]|\b(?:is|are|was|were|has|have|had|does|do|did|can|cannot|can't|shows?|showed|takes?|took|requires?|needs?|returns?|returned|would|fixes|solves|prevents|avoids|breaks|fails?|failed|pass|passes|passed|works|causes?|caused|reveals|revealed|gives?|gave|found|done|complete|completed|finished|reduces?|improves?|means|made|succeeded|succeeds)\b|^(?:working\s+(?:as\s|again|fine|correctly|properly)|looking\s+(?:good|fine|healthy)|running\s+(?:on|at|fine|again)\b|(?:getting|taking)\s+(?:an?\s+)?\d)/iu

/** "I have started working on it." */
export const STARTED =
  /^(?:i|we)(?:'ve|\s+have)?\s+(?:(?:just|now|already)\s+)?(?:started|begun|began|commenced|kicked\s+off|initiated)\s+(?:on|with|to|working|looking|reading|analy[sz]ing|investigating|reviewing|searching|(?:(?:the|this|my|an?|your)\s+)?(?:task|work|analysis|review|investigation|research|job|process|search|implementation))\b/iu

/** Something that was done, after an announcement in the same sentence: "I've started the analysis and found 3 bugs". */
export const ACHIEVED =
  /(?:\band|\bbut|,)\s+(?:(?:i|we)\s+)?(?:(?:have|'ve|already)\s+){0,2}(?:found|wrote|written|ran|made|built|sent|fixed|added|removed|created|updated|identified|completed|finished|tested|approved|merged|deployed|counted|verified|discovered|confirmed)\b/iu

/** "In progress.", "The analysis is underway.", "More to come.", "The report will follow." */
export const PENDING = [
  /^(?:(?:(?:the|my|this|your)\s+)?(?:task|work|job|analysis|review|investigation|request|report|research|it|that|this|status)(?:'s|\s+is|\s+are|\s+has\s+been|\s+was)?\s+)?(?:(?:still|now|currently)\s+)?(?:in\s+progress|underway|under\s+way|ongoing|wip|work\s+in\s+progress|on\s+its\s+way|coming\s+(?:soon|up|right\s+up|shortly)|to\s+follow|tbd|tba|tbc|to\s+be\s+(?:done|determined|continued|defined|decided|provided|filled\s+in|added|written)|still\s+on\s+it|being\s+(?:worked\s+on|processed|prepared|investigated))(?:\s+(?:now|soon|shortly|later|at\s+the\s+moment|right\s+now))?$/iu,
  /^(?:the\s+|my\s+)?(?:task|work|analysis|review|investigation|research)\s+(?:has\s+(?:been\s+)?|was\s+|is\s+)?(?:now\s+)?(?:started|starting|begun|queued|scheduled)(?:\s+(?:now|soon|shortly))?$/iu,
  /^(?:(?:the|my|a|your|full|final|more|further|detailed|complete)\s+){0,3}(?:results?|report|summary|answer|analysis|output|details|information|info|updates?|findings|response|solution|code|fix|implementation|changes|list|work)\s+(?:will\s+(?:follow|come|arrive|be\s+(?:ready|available|delivered|provided|sent|shared|posted|given|added|done|completed|finished|updated))(?=$|\s+(?:soon|shortly|later|here|below|then|once|when|as|after|today|tomorrow|next|separately|by|within|asap|to\s+you|for\s+you|in\s+(?:a|an|my|the\s+next|\d+\s*(?:s|m|h|sec|min|hour|day|week))))|to\s+(?:follow|come)|coming|(?:soon|later|shortly)$|(?:is|are)\s+(?:on\s+(?:its|the|their)\s+way|coming))/iu,
  /^you(?:'ll|\s+will)\s+(?:receive|get|have|hear)\b.{0,80}\b(?:soon|shortly|later|in\s+an?|once|when|as\s+soon\s+as)\b/iu,
  /^(?:i'm|i\s+am|we're|we\s+are)\s+on\s+it\b/iu,
  /^(?:more\s+to\s+come|stay\s+tuned|watch\s+this\s+space|be\s+right\s+back|brb|back\s+(?:soon|shortly|in\s+a\b.{0,30}))$/iu,
  /^(?:please\s+)?(?:(?:one|just\s+a|just\s+one|give\s+me\s+(?:a|one|some|a\s+few))\s+(?:moment|minute|second|sec|bit|time|minutes|seconds)|hold\s+on|hang\s+on|hang\s+tight|stand(?:ing)?\s+by|bear\s+with\s+me|wait|hold)(?:\s+(?:please|while|for|a|until|to|and|so)\b.{0,60})?$/iu,
  /^my\s+(?:plan|next\s+steps?|first\s+step)\s+(?:is|are|will\s+be)\s+to\b/iu,
  flagged(`^(?:my|the)\\s+(?:plan|approach|strategy|next\\s+steps?|first\\s+step)\\s+(?:is|are|will\\s+be)\\s+to\\s+(?:${EXPLORING_VERBS})\\b`),
  /^(?:(?:i|we)\s+(?:have\s+not|haven't)|(?:i've|we've)?\s*not)\s+(?:yet\s+)?(?:started|begun)(?:\s+(?:yet|on\s+it|with\s+it|on\s+this))*$/iu,
  /^(?:here(?:'s|\s+is)\s+)?my\s+(?:plan|approach|strategy|next\s+steps?|first\s+step|to-?do(?:\s+list)?)\s*:?$/iu,
  /^(?:(?:here(?:'s|\s+is)|this\s+is)\s+)?(?:what|how|(?:the\s+)?steps(?:\s+that)?)\s+(?:i|we)(?:'ll|\s+will|'m\s+going\s+to|\s+plan\s+to|\s+intend\s+to)\b/iu,
  /^lorem\s+ipsum\b/iu,
]

/** A step that belongs to the announcement before it: "I'll do this: read the files, …". */
export const ANNOUNCED_STEP = flagged(`^(?:(?:and|then|also|finally|next|first|afterwards),?\\s+){0,2}(?:${BASE_VERBS}|${GERUNDS})\\b`)
/** An announcement of what follows in the same text, so that a list after it is what was announced. */
export const PRESENTS = /\b(?:list|show|summari[sz]e|present|did|done|found|findings|results?|summary|changes|answer|explain|describe|give\s+you)\b/iu
/** An announcement of a command, so that a shell block after it is the command and not a result. */
export const RUNS_COMMAND = /\b(?:run|execute|start|try|use|call|install|invoke|check|test)\b/iu
export const SHELL = /^(?:bash|sh|shell|zsh|console|terminal|powershell|cmd)\b/iu

/** "Sure,", "Got it!": an acknowledgement before something else, or alone. */
export const ACKNOWLEDGEMENT =
  /^(?:okay|ok(?=[,.!:\s]+\S)|sure(?:\s+thing)?|certainly|(?:alright|all\s+right)(?=[,.!]|$)|right\s+away|at\s+once|as\s+you\s+wish|very\s+well|with\s+pleasure|understood|got\s+it|gotcha|roger(?:\s+that)?|copy(?:\s+that)?|noted|acknowledged|ack|great|perfect|excellent|awesome|wonderful|cool|fantastic|no\s+problem|no\s+worries|of\s+course|absolutely|definitely|will\s+do|can\s+do|on\s+it|i'm\s+on\s+it|i\s+am\s+on\s+it|consider\s+it\s+done|you\s+got\s+it|sounds\s+(?:good|great)|makes\s+sense|that\s+makes\s+sense|leave\s+it\s+(?:to|with)\s+me|my\s+pleasure|you're\s+welcome|received|message\s+received|loud\s+and\s+clear|aye(?:\s+aye)?|hello|hi|hey|greetings|good\s+(?:morning|afternoon|evening))(?:\s+(?:there|everyone|team|captain|then|now))?(?:\s*[,.!:;…]+\s*|\s*$)/iu

/** A sentence that only acknowledges. */
export const COURTESY = [
  /^(?:thanks(?!\s+to\b)|thank\s+you|many\s+thanks|cheers|best\s+regards|kind\s+regards)\b/iu,
  /^(?:please\s+)?(?:let\s+me\s+know|feel\s+free|don't\s+hesitate|do\s+not\s+hesitate|reach\s+out)\b/iu,
  /^(?:i\s+)?hope\s+(?:this|that|it)\s+helps\b/iu,
  /^(?:i'm\s+|i\s+am\s+)?looking\s+forward\s+to\b/iu,
  /^have\s+a\s+(?:great|nice|good)\b/iu,
  /^(?:i\s+)?(?:fully\s+|completely\s+)?understand(?:\s+(?:the|your|this|what)\b.{0,80})?$/iu,
  /^(?:i'm\s+|i\s+am\s+)?(?:happy|glad|ready|here|excited|delighted|eager)\s+to\b.{0,80}$/iu,
  /^(?:i'd|i\s+would)\s+be\s+(?:happy|glad|delighted)\s+to\b.{0,80}$/iu,
  /^(?:i'm\s+|i\s+am\s+)ready\b.{0,60}$/iu,
  /^i\s+have\s+(?:everything|all\s+(?:that\s+)?i\s+need)\b.{0,40}$/iu,
  /^ready\s+when(?:ever)?\s+you\s+are$/iu,
  /^i\s+(?:can|could)\s+(?:(?:certainly|definitely)\s+)?(?:do|help|assist|handle|take\s+care\s+of|work\s+on)\b.{0,80}$/iu,
  /^(?:the\s+|your\s+)?(?:task|request|message|instructions?|brief|assignment)\s+(?:(?:is|was|has\s+been|have\s+been)\s+)?(?:received|accepted|acknowledged|understood|noted)\b.{0,60}$/iu,
  /^(?:i|we)(?:'ve|\s+have)?\s+(?:(?:now|just|carefully)\s+)?(?:got|received|read|seen|noted|understood|accepted)\s+(?:the|your|this|my)\s+(?:task|request|message|instructions?|brief|assignment|update|question|requirements)\b/iu,
  /^(?:great|good|excellent|interesting|nice)\s+(?:question|idea|point)$/iu,
  /^(?:is\s+there\s+)?anything\s+else\b/iu,
]

/** A request for what only the one who asked can give, without a question mark. */
export const REQUEST = [
  flagged(
    `${START}(?:please|kindly)\\s+(?:provide|share|send|tell|give|specify|clarify|confirm|advise|upload|paste|attach|choose|pick|point|indicate|supply|grant|select)\\b`,
  ),
  flagged(`${START}(?:please\\s+)?let\\s+me\\s+know\\s+(?:which|what|where|who|whom|how|whether)\\b`),
  flagged(`${START}i(?:'d|'ll|\\s+would|\\s+will)?\\s+(?:also\\s+)?(?:need|require)\\s+(?:(?!to\\b)|to\\s+(?:know|clarify|confirm|ask)\\b)`),
  // "We need an index" is a finding.
  flagged(
    `${START}we(?:'d|'ll|\\s+would|\\s+will)?\\s+(?:also\\s+)?(?:need|require)\\s+(?:to\\s+(?:know|clarify|confirm|ask)\\b|(?:\\S+\\s+){0,3}(?:you|your|information|info|details?|clarifications?|context|input|access|permissions?|credentials|confirmation|approval|answers?|decision)\\b)`,
  ),
  flagged(
    `${START}(?:(?:i'm|i\\s+am|still)\\s+)?(?:waiting|awaiting|i'll\\s+wait|i\\s+will\\s+wait)\\s+(?:for\\s+|on\\s+)?(?:your|you|the\\s+user|user|confirmation|approval|input|access|credentials|clarification|further|a\\s+reply|an\\s+answer)\\b`,
  ),
  /^(?:to|before)\b[^,]{1,60}\s(?:i|we)\s+(?:need|require)\s+(?!to\b)/iu,
  /^(?:i\s+have|i've\s+got|before\s+i|first|just|quick|one|a\s+few|some|two|three|here\s+are)\b(?!.{0,60}\b(?:no\s+questions|answer(?:s|ed)?|resolved)\b).{0,60}\bquestions?(?=\s*(?:[.:!,?]|$)|\s+(?:before|first|for|about|regarding|on|to)\b)/iu,
]

export const QUESTION = /[?？؟][^\p{L}\p{N}]*$/u
/** Code that ends in a question mark, such as a parameter of SQL. */
export const CODE = /[={}<>$;\\]|\w\(/u
/** A question that has to be answered before the work can go on, unlike the offer of more. */
export const CHOOSING = flagged(
  `${LEAD}(?:which|what|who|whom|whose|where|when|how|why)\\b|\\bor\\b|\\b(?:can|could|would|will|do|did|have)\\s+you\\b(?!\\s+(?:like|want|need|prefer\\s+me))|\\byou\\s+mean\\b`,
)
/** A question to the one who asked, unlike one that is content, as in a quiz. */
export const PERSONAL = /\b(?:you|your|i|me|my|we|us|our)\b/iu

/** What is missing, said before a question. A finding otherwise. */
export const LACK = flagged(
  `${START}(?:(?:i|we)(?:'m|\\s+am|'re|\\s+are)\\s+(?:not\\s+(?:sure|certain|clear)|unsure|unclear|confused|missing|unable)\\b|(?:i|we)\\s+(?:don't|do\\s+not|can't|cannot|couldn't|could\\s+not|wasn't\\s+able\\s+to|was\\s+not\\s+able\\s+to|didn't|did\\s+not)\\s+(?:see|know|have|understand|find|access|tell|open|locate|determine|proceed|continue|start|begin|read)\\b|(?:it|this|that|(?:the|your)\\s+(?:task|brief|request|question|instructions?|description|path|folder|file|message))(?:'s|\\s+is|\\s+are|\\s+seems?|\\s+appears?)?(?:\\s+to\\s+be)?\\s+(?:not\\s+clear|unclear|ambiguous|vague|missing|incomplete|not\\s+specified|unspecified)\\b|(?:the|your)\\s+(?:task|brief|request|question|instructions?|description|message)\\s+(?:doesn't|does\\s+not|don't|do\\s+not|didn't|did\\s+not)\\s+(?:say|specify|mention|name|include|state|tell)\\b)`,
)
export const FOUND_NONE = /\bany\b|\bno\s+(?:issues|problems|errors)\b|\banything\b/iu
/** Several things to choose from, said before a question. A finding otherwise. */
export const CHOICES = flagged(
  `${START}(?:(?:i|we)\\s+(?:found|see|have|can\\s+see)|there\\s+(?:are|is|seem\\s+to\\s+be))\\s+(?:no|two|three|four|several|multiple|a\\s+few|both|more\\s+than\\s+one|\\d)|^(?:the|your)\\s+(?:task|brief|request|instructions?)\\s+(?:mentions?|names?|says|lists?|refers\\s+to|asks\\s+for|contains?)\\b`,
)

/** A word that acknowledges before something else, and alone may be an answer: a rating, or what a program prints. */
export const ANSWERING_WORD =
  /^(?:hello|hi|hey|greetings|great|perfect|excellent|awesome|wonderful|cool|fantastic|received|definitely|absolutely|certainly|of\s+course)$/iu

export const YES_OR_NO = /^(?:yes|no|yeah|yep|yup|nope)$/iu
/** "Here is the report:", which delivers nothing by itself. */
export const OPENING = /^(?:here(?:'s|\s+is|\s+are)|below\s+(?:is|are)|the\s+following)\b.*:$/iu

/** A line that is a placeholder. In capitals or before a colon: a result about a todo list is a result. */
export const TODO = flagged(`^(?:todo|fixme|tbd)\\s*(?::|$)|^to-?do\\s*:`)
export const TODO_STEP = new RegExp(`^(?:TODO|FIXME)\\s*(?:[(–—-]|\\s(?:${BASE_VERBS})\\b)`, 'u')
/** What a placeholder does not contain: a count, or the place of a comment that was found. */
export const TODO_FINDING = /^(?:todo|fixme|to-?do)s?\s*:\s*(?:\d|no\b|none\b|nothing\b)|[\w/]\.\w{1,5}:\d/iu
