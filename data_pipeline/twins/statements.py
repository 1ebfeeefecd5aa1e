"""Sentences of a document that can stand in an answer: each says something of its own, and says it whole.

Rules prefer to miss one: a sentence that leans on the one before it ("It", "However", "the latter"), that
cites, or that the splitter may have cut in two is none. What is left is lightly reworded where that is sure
to keep the meaning, so that an answer is no plain copy.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from data_pipeline.documents.bearing import parts_of
from data_pipeline.perturb.verbs_en import PAST
from data_pipeline.perturb.words import pairs, words
from judge.floors.overlap import units
from judge.types import Language

SIZES: Mapping[Language, tuple[int, int]] = {"en": (8, 45), "zh": (14, 90)}
"""Words (characters in Chinese) of a statement, at least and at most."""

_OPENERS_EN = (
    r"he|she|it|they|we|i|you|his|her|hers|its|their|our|my|your|this|that|these|those|such|here|both|each|one"
    r"|another|other|others|either|neither|the (?:latter|former|others?|same|first|second|third|result|results"
    r"|above|following|two|three|four|rest|remaining|remainder|current|present|opposite)|some|most|many|all|several|few"
    r"|however|moreover|furthermore|thus|therefore|hence|additionally|in addition|also|but|and|or|nor|so|then"
    r"|yet|still|instead|meanwhile|nevertheless|nonetheless|consequently|accordingly|as a result|for example"
    r"|for instance|in contrast|by contrast|conversely|on the (?:other|one|contrary)|similarly|likewise"
    r"|finally|first|firstly|secondly|thirdly|lastly|later|afterwards?|subsequently|eventually|soon|rather"
    r"|otherwise|indeed|in fact|of course|certainly|overall|together|alternatively|specifically|importantly"
    r"|interestingly|notably|in particular|particularly|especially|surprisingly|unfortunately|in (?:this|these|that"
    r"|those|such|both|all|other|short|general|summary|conclusion)|at (?:this|that|these|those|the (?:same|end|time))"
    r"|(?:on|from|by|for|under|after|before|during|since|with|despite|because of|given|as|to|through|until|of|among"
    r"|within|over|like|unlike) (?:this|that|these|those|it|him|her|them|which|such|all|our|my|his|its|their)"
    r"|as (?:such|mentioned|described|noted|shown|discussed|a consequence|before|above|expected|well)|if so|more"
    r"|since then|even|only|just|not|no|because|although|though|while|whereas|despite|when|where|who|which|what|whose|why"
    r"|how|there(?:after|fore|by|in)?|yes|well|perhaps|maybe|again|apart from|besides|except|based on|compared"
)
_DANGLES_EN = re.compile(
    rf"(?:{_OPENERS_EN})\b"
    r"|[^,]{1,80}, (?:he|she|it|they|we|this|these|those|that|his|her|its|their|however|though)\b",
    re.I,
)
_UNFIT_EN = re.compile(
    r"\b(?:I|me|my|mine|you|your|us|ours|ourselves|myself|Figs?|Figures?|Tables?|Sections?|Appendix|Eq|Equation"
    r"|Supplementary|Additional file|Ref|http\w*|www|doi|et al|i\.e|e\.g|cf|viz|ibid|PMC\d*|below|above-mentioned"
    r"|aforementioned|the (?:following|above|study)|respectively|herein|therein|thereof|listed|see|here|as follows"
    r"|(?:our|this|these|the present|the current) (?:study|studies|paper|review|work|article|chapter|report|data|results"
    r"|section|model|models|table|figure))\b|[\[\]|•…©®~=<>{}?!#*@^_\\]|:(?!\d)|\.\.|--|''|``|[a-z\d]\.[A-Z]"
    r"|\u2018|(?<=[a-z])\d|\b\d+,\d{1,2}\b(?!\d)|\s[,.]",
)
_AUXILIARY_EN = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|should|did|does|do)\b"
)
_PARTICIPLES = frozenset(words("participles_en"))
_OBJECT_EN = re.compile(r"\b([a-z]+) (?:the|a|an|its|his|her|their|that|no|most|many|[A-Z\d])")
"""A verb and the beginning of what it speaks of; in "patients admitted to hospital" the verb is none of the
sentence."""
_CUT = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|Figs?|No|vs|spp?|al|approx|ca|Dr|St|Mr|Mrs|Ms|Jr|Sr|etc|Inc|Ltd|Co|Corp|var|subsp|pp?"
    r"|vol|ed|eds|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Gen|Col|Lt|Sgt|Capt|Rev|Gov|Sen|Rep|Prof|U\.S|U\.K|a\.m|p\.m)"
    r"|\b[A-Za-z])\.[\"”)]?$"
)
"""Where the splitter may have cut a sentence in two."""
_LEANS_EN = re.compile(
    r"\b(?:this|these|those|such|the (?:latter|former|same|other|others|two|three|four)|thereby|former|latter|earlier"
    r"|previously|so-called|do so|did so|one another|then|then-)\b",
)
_SHORT_SUBJECT = re.compile(
    r"(?:The|A|An|Two|Three|Four|Five) (?:[a-z]+ ){1,2}(?:is|are|was|were|has|have|had|can|could|will|would|did|does|do|[a-z]+ed)\b"
)
_PERSON_EN = re.compile(r"\b(?:he|she|him|his|her|hers|himself|herself)\b")
_NAME_EN = re.compile(
    r"\b(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|[A-Z]\w+day)\b)"
    r"[A-Z][\w’'-]+"
)
_THING_EN = re.compile(r"\b(?:it|its|they|them|their|theirs)\b")
_FIRST_EN = re.compile(r"\b(?:we|our|ours|us)\b", re.I)
_CONNECTIVE_EN = re.compile(r", (?:however|therefore|thus|moreover|furthermore|consequently|in turn|for example|too)(?:,|(?=\.))")
_FRONTED = re.compile(r"(In|On|By|Since|Until|During|After|Before) ((?:early |late |mid-?)?(?:(?:January|February|March|April|May|June|July|August|September|October|November|December) )?(?:\d{1,2}, )?(?:1\d|20)\d\d), ([^,]{20,140})\.")
_MORE_THAN_ONE_CLAUSE = re.compile(
    r"\b(?:and|but|or|that|which|who|whom|whose|when|where|while|because|since|after|before|until|although|if|as|than|to)\b"
    r"|\d{4}"
)
_LOWER_FIRST = re.compile(r"(?:The|A|An|In|On|At|By|During|After|Before|Since|Until)\b")

_DANGLES_ZH = re.compile(
    r"(?:他|她|它|其|该|此|这|那|因此|因而|所以|但|然而|不过|可是|而|同时|与此|此外|另|并|也|又|还|于是|之后|之前|随后"
    r"|后来|后|当时|当中|当天|当日|当年|同|次|翌|例如|比如|譬如|如|即|对|为此|上述|以上|以下|综上|总之|总的|前者|后者|有的|有些|有人"
    r"|一些|另一|其他|其它|某|我|你|您|咱|本院|本|首先|其次|再次|最后|第[一二三四五六]|最终|结果|或|与|且|若|虽|尽管|由于|由此|从此|自此"
    r"|至此|到此|期间|除此|除了|相反|相比|相对|反之|否则|事实上|实际上|尤其|特别|直到|直至|接着|接下来|然后|只|仅|才|就|都|均|更|再|甚至|是"
    r"|所|诉讼|判决|庭审|原审|一审|二审|经(?:审|查|本)|以此|据此|在(?:此|这|该|那|上)|从(?:这|那|此)|[一二两三四五六七八九十]者"
    r"|为[了此]|[^，,。]{0,14}[,，](?:他|她|它|其|该|此|这|双方|二人|两人|对此))"
)
_CANNOT_FOLLOW_ZH = re.compile(
    r"我|你|您|咱|本|诉讼|判决|庭审|原审|一审|二审|经(?:审|查|本)|综上|上述|首先|其次|再次|最后|第[一二三四五六]|若|虽|尽管|是|所"
)
_UNFIT_ZH = re.compile(
    r"[我你您咱]|本院|本案|本所|本报|本文|笔者|记者|上述|前述|如下|以下|见[图表]|http|[：:；;？?！!…\[\]|＊*#<>×]|\d日电|上列"
)
_LEANS_ZH = re.compile(
    r"该|此[^外后前]|这|那[^么]|前者|后者|同[年日月样时]|当[时年日天]|次[年日月]|翌|另[一外]|其[^他它余实中]|双方|二人|两人|彼此"
)
_PERSON_ZH = re.compile(r"他|她|它")
_PARENTHESIS = re.compile(r"\s*[(（][^()（）]*[)）]")
_REWORDED: Mapping[Language, tuple[tuple[re.Pattern[str], str], ...]] = {
    "en": tuple((re.compile(rf"(?<!\ba)(?<!\ban) {re.escape(old)}(?=[ ,.])"), f" {new}") for old, new in pairs("rewordings_en")),
    "zh": tuple((re.compile(re.escape(old)), new) for old, new in pairs("rewordings_zh")),
}
_BLANKS_ZH = re.compile(r"(?<=[^\x00-\x7f]) +| +(?=[^\x00-\x7f])")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence for an answer, and the number of the part of its document (see ``parts_of``) that bears it.

    One that ``leans`` on the sentence before it ("It", "However") can only follow that one.
    """

    text: str
    part: int
    leans: bool


@lru_cache(maxsize=256)
def statements(document: str, language: Language) -> tuple[Statement, ...]:
    """What a document says in sentences that can stand in an answer, in its order."""
    found: list[Statement] = []
    seen: set[str] = set()
    before = "."
    for number, part in enumerate(parts_of(document)):
        text = document[part.start : part.end]
        whole = not _CUT.search(before)
        before = text
        said = plain(text, language) if whole and "\n" not in text else None
        if said is None or said in seen:
            continue
        leans = leans_back(said, language)
        if leans and (not found or found[-1].part != number - 1):
            continue
        seen.add(said)
        found.append(Statement(said, number, leans))
    return tuple(found)


def plain(text: str, language: Language) -> str | None:
    """A sentence in plain words; ``None`` where it is no statement that can stand in another text."""
    least, most = SIZES[language]
    text = _PARENTHESIS.sub("", text) if text[:1] not in "(（" else text
    text = re.sub(r"\s+", " ", text).strip()
    if language == "zh":
        text = _BLANKS_ZH.sub("", text)
        said = _plain_zh(text)
    else:
        said = _plain_en(text)
    return said if said is not None and least <= len(units(said, language)) <= most else None


def _plain_en(text: str) -> str | None:
    text = _CONNECTIVE_EN.sub("", text)
    text = re.sub(r" also (?=[a-z])", " ", text)
    if re.match(r"We [a-z]", text) and len(_FIRST_EN.findall(text)) == 1:
        text = "The authors" + text[2:]
    if (
        not re.match(r"(?!To )[A-Z][\w’'-]* |\d", text)
        or not re.search(r"[a-z0-9%]\.$", text)
        or _CUT.search(text)
        or re.match(r"[^.]{0,40}:|\d{1,3} [A-Z]", text)
        or _UNFIT_EN.search(text)
        or _FIRST_EN.search(text)
        or not _says(text)
        or text.count('"') % 2
        or text.count("“") != text.count("”")
        or re.search(r"[()]", text)
        or sum(word[0].isupper() or word[0].isdigit() for word in text.split()) > 0.6 * len(text.split())
    ):
        return None
    return _reworded(_turned(text), "en")


def _says(text: str) -> bool:
    """Has an English sentence a verb of its own?"""
    return bool(_AUXILIARY_EN.search(text)) or any(
        verb in PAST or verb in _PARTICIPLES or re.fullmatch(r"[a-z]{2,}(?:ed|[^s]s)", verb)
        for verb in _OBJECT_EN.findall(text)
    )


def names_its_subject(text: str, language: Language) -> bool:
    """Can a text begin with a sentence? Not with "The network is", where nothing says which."""
    return language == "zh" or not _SHORT_SUBJECT.match(text)


def leans_back(text: str, language: Language) -> bool:
    """Does a sentence speak of something that only the one before it names?"""
    if language == "zh":
        person = _PERSON_ZH.search(text)
        return bool(_DANGLES_ZH.match(text) or _LEANS_ZH.search(text) or (person and person.start() < 6))
    if _DANGLES_EN.match(text) or _LEANS_EN.search(text):
        return True
    person, thing = _PERSON_EN.search(text), _THING_EN.search(text)
    if thing and len(text[: thing.start()].split()) < 4:
        return True
    opening = re.match(r"(?:The|An?|In|On|At|By) ", text)
    named = text[opening.end() if opening else 0 :]
    return bool(person) and not _NAME_EN.search(named[: person.start() - len(text) + len(named)])


def _reworded(text: str, language: Language) -> str:
    """Set phrases in other words."""
    for pattern, new in _REWORDED[language]:
        text = pattern.sub(new, text)
    return text


def _turned(text: str) -> str:
    """A date in front goes to the end of a sentence of one clause."""
    if (match := _FRONTED.fullmatch(text)) and not _MORE_THAN_ONE_CLAUSE.search(match[3]):
        return f"{match[3][0].upper()}{match[3][1:]} {match[1].lower()} {match[2]}."
    return text


def _plain_zh(text: str) -> str | None:
    text = re.sub(r"^(?:经审理查明|经查明|经查|另查明|另查|查明|本院查明|本院认定|经审理本院认定)[,，:：]\s*", "", text)
    if (
        not text.endswith("。")
        or _CANNOT_FOLLOW_ZH.match(text)
        or _UNFIT_ZH.search(text)
        or re.search(r"[()（）]", text)
        or text.count("“") != text.count("”")
        or text.count("《") != text.count("》")
        or text.count("「") != text.count("」")
    ):
        return None
    return _reworded(text, "zh")


def linked(text: str, connective: str, language: Language) -> str:
    """A statement after a connective ("In addition,"); as it is where its first word might be a name."""
    if language == "zh":
        return connective + text
    return f"{connective} {text[0].lower()}{text[1:]}" if _LOWER_FIRST.match(text) else text
