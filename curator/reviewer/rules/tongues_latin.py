"""Words by which a language says that something holds for good, or only for now: those written in Latin letters.

Each is a regular expression, matched at word boundaries without case. See `tongues.Tongue` for what the kinds mean.
"""

from __future__ import annotations

from typing import Final

from curator.reviewer.rules.tongue import Tongue

ENGLISH: Final = Tongue(
    name="English",
    common="the|and|is|it|to|of|in|that|we|you|not|for|are|on|this|with|what|can|please|pls|no|yes|do|i|be|was|a|an|as|at|there|there's|so|but|or|by|have|has|if|all|they|my|your|our|from|it's|don't|then|how|why|should|will|just|thanks|ok|u|ur",
    lasting=(
        r"always|never|from (?:now|here|today) on|going forward|in (?:the )?future|as a (?:general )?rule|by convention"
        r"|without (?:any )?exceptions?|no exceptions?|every (?:single )?time|permanently|for good|forever"
        r"|(?:house|project|team|new|our|standing|golden) rules?|the rule is|conventions? (?:is|are|here)|our conventions?|mandatory|compulsory|obligatory"
        r"|must(?:n't| not)?|is required|are required|no longer|not (?:\w+ )?any ?more|        "
        r"|all (?:of )?our|same for (?:all|every|each)|goes for (?:all|every|each|any)\w*"
        r"|wherever|whenever|whichever|every \w+ (?:gets|has|needs|must|should|goes|carries|is|runs|comes)"
        r"|all \w+ (?:go|live|get|have|are|must|need|come|run|use)|each \w+ (?:gets|has|needs|must|should|goes|carries|is|lives|runs)"
        r"|for the record|note to (?:everyone|self|all)|(?<!i )(?:remember|rember|rmbr)(?! (?:to|when|the time|how|it|this)\b)|keep in mind|bear in mind|take note|make a note|note (?:that|this|down)"
        r"|we(?: all| only| just| now)? (?:say|use|call|prefer|follow|require|never|ship|support|deploy|release|store|name|review|show|target"
        r"|sign|pin|tag|host|squash|publish|write|don'?t|do not|stopped|stick to|avoid|read it|standardi[sz]e|spell)"
        r"|we(?:'ve| have|'re| are)?(?: now| just| all| finally| already)? (?:agreed|decided|settled|standardi[sz]ed|moved|switched|migrated|dropped|replaced|adopted"
        r"|chose|chosen|banned|retired|removed|left|using|going with|sticking with|on)|we(?:'ll| will) (?:use|go with|stick|keep|never|always)"
        r"|(?:the )?team (?:agreed|decided|wants|voted|prefers|uses|chose|settled)|(?:talked|spoke|agreed|discussed it|checked) (?:w|with|to) (?:the )?(?:team|others|everyone|ops|security|legal)"
        r"|decision(?: is)?:|(?:it'?s|that'?s|is) (?:decided|settled|final|agreed)|final (?:decision|answer|word)|unless i (?:say|ask|tell)|unless i'?ve|keep doing (?:it|this|that)"
        r"|ask (?:me )?(?:first|before|b4)|this (?:project|repo|repository|code ?base) (?:\w+ )?(?:is|uses|has|runs|needs|its|targets)"
        r"|our (?:standards?|policy|policies|defaults?|style|naming|number|code ?base|code|house style|own|users|customers)|(?:in|of) our (?:code|codebase|project|repo|docs)"
        r"|only ever|nothing else|is (?:long )?gone|are (?:long )?gone|(?:is|are) (?:out|dead|banned|forbidden|deprecated|retired|off limits|history)(?= *(?:[.,;:!]|\Z))|got rid of|moved (?:away )?(?:from|over to)"
        r"|(?:replaced|switched) (?:by|with|from|to|over)|since (?:last|q\d|v?\d|january|february|march|april|may|june|july|august|september|october|november|december)"
        r"|(?:the )?(?:normal|usual|right|correct|official|only) way (?:is|to)|(?:is|are) the only|the only \w+|not allowed|forbidden|(?:is|are) binding|a habit|make (?:it|that) a (?:habit|rule)"
        r"|each (?:january|february|march|april|june|july|august|september|october|november|december|year|quarter|release|month)|don'?t ever|under no circumstances|at all times|by default|(?:lives?|live) (?:in|under|at)"
    ),
    collective=r"we|our|ours|us|the team|here|the project|this project|the repo|everyone|people|users?|customers?|clients?",
    contrast=r"not|n'?t|instead(?: of)?|rather than|no|isn'?t|aren'?t|without|neither|nor|nothing|nobody|none|doesn'?t|don'?t|dont|old",
    every=r"all|every|each|any|anything|anyone|everything|everywhere|both|only|per|whole|entire|none|at most|at least|max|maximum|minimum|(?:in )?this (?:project|repo|repository|code ?base)",
    norm=r"should(?:n'?t)?|has to|have to|needs?|goes? in(?:to)?|stays?|gets?|belongs?|i (?:don'?t )?(?:want|like|prefer|need|hate)|i'?d like|please|runs? (?:on|in|with)|comes? (?:from|with)|uses?|is called|means?|counts?",
    change=r"now|gone|changed|moved|switched|replaced|since|already|new|dropped|out",
    passing=(
        r"today|tonight|this (?:once|time|week|morning|afternoon|evening|sprint|month|one|file|function|line|branch|pr|commit|ticket|issue|test|class|method|script|page|error)|just (?:once|now|here|this)|only (?:once|here|this)|for (?:now|the moment|the time being|today|this)"
        r"|right now|at the moment|temporar\w+|until|tomorrow|yesterday|in (?:a|ten|five|\d+) minutes?|for a (?:sec|second|minute|moment)|quickly|real quick|asap|once more"
        r"|maybe|perhaps|might|could|would|suppose|imagine|hypothetical\w*|what if|probably|possibly|wonder\w*|i think|i guess|not sure|unsure|no idea|let me think|thinking (?:of|about)|thought experiment|dunno|don'?t know|undecided|considering|if we|if only"
        r"|kidding|joking|joke|jk|haha\w*|lmao|rofl|sarcas\w*|pony|ponies|lol"
        r"|he said|she said|they said|he says|she says|they say|someone (?:said|wrote)|according to|it says|says that|wrote that|told me|heard that|i read|the docs say|claims?|apparently"
        r"|broke|fails?|failing|failed|crash\w*|worked for|got this|had (?:trouble|been)|wondered|happy to|was|were|been|does it|did|broken|used to|all is|a day|he likes|she likes|must be (?:a|an|the|some|something)|must have|sort (?:it|this|that) out|in the morning|\d (?:am|pm)|the (?:new|next|first|second|third|last|previous|same) (?:step|one|option|approach|version|suggestion|idea|plan|endpoint|file|function|thing|part|page|test)|add a|if i ever|use the wrong|sucks?|is bad|too much|weird"
        r"|my (?:birthday|laptop|machine|branch|fork)|meeting|lunch|vacation|holidays?|birthday|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|puzzle|let'?s see|other project|someday|eventually|no coffee|more coffee|pirate"
    ),
    asking=r"what|why|how|where|who|which|when|whats|can|could|should|would|will|is|are|does|do you|did|has|have you|any idea|wat|y|shall|may i|am i",
    taking_back=(
        r"(?:just |only )?(?:kidding|joking)|i (?:was|am|'m) (?:kidding|joking)|i was|never ?mind|nvm|scratch that|scrap (?:that|it|this)|forget (?:that|it|this|what i|about it)|ignore (?:that|what i)|take (?:that|it) back"
        r"|(?:that|it) was a joke|don'?t (?:save|store|remember|memorize|do) (?:that|this|it)|revert|undo|roll (?:it|that) back|put it back|on second thoughts?|changed my mind|after all|we stay with what we have|no wait|wait,? no|not on any roadmap|thought experiment|cancel that|better not|leave it as it (?:was|is)|back to how it was|strike that"
    ),
    known=r"as (?:i )?(?:said|told|always|usual|you know)|you know (?:how|that|i|we)|like i said|already (?:said|told)|i told you|how often|same as always|the usual|reminder",
    correcting=r"no+|nope|nah|wrong|not quite|incorrect|correction|actually|that'?s (?:wrong|not right|incorrect|not correct|not it)|not like that|stop",
)

GERMAN: Final = Tongue(
    name="German",
    common="der|die|das|und|ist|nicht|wir|ich|du|ein|eine|im|in|den|dem|mit|auf|für|es|was|ja|nein|bitte|zu|von|auch|noch|dann|mal|nur|wie|kein|keine",
    lasting=(
        r"immer|nie(?:mals)?|(?:ab|von) (?:jetzt|sofort|heute|nun)(?: an)?|künftig|zukünftig|in zukunft|fortan|grundsätzlich|generell|prinzipiell|ausnahmslos|ohne ausnahme|stets|jedes ?mal|für immer|dauerhaft"
        r"|überall|in allen|für alle|bei allen|alle unsere|in jede[mnrs]?|bei jede[mnrs]?|für jede[mnrs]?|vor jede[mnrs]?|nach jede[mnrs]?|jede[rs]? \w+ (?:bekommt|braucht|hat|muss|geht|kommt|ist)|pflicht|verpflichtend|verbindlich|zwingend|verboten|nicht erlaubt|tabu"
        r"|muss|müssen|darf nicht|dürfen nicht|darf nie|merk(?:e|t)?(?: dir)?|merken|denk dran|nicht vergessen|notier(?:e|en)?|fürs protokoll|als regel|die regel|regel ist|neue regel|konvention|bei uns|in unserem|unsere[nrsm]?"
        r"|wir (?:haben )?(?:uns )?(?:beschlossen|entschieden|geeinigt|festgelegt|abgesprochen)|(?:haben|hat|ist|sind) (?:\S+ ){0,8}(?:beschlossen|entschieden|geeinigt|festgelegt|umgestellt|umgestiegen|gewechselt|abgeschafft|abgelöst|ersetzt)|beschlossen|entschieden|geeinigt|festgelegt"
        r"|wir (?:nutzen|verwenden|benutzen|nehmen|nennen|sagen|schreiben|machen das|bauen|setzen|bleiben|deployen|testen|arbeiten|hosten|speichern)|das team (?:hat|will|nutzt)|nur noch|ausschließlich|nicht mehr|kein\w* \S+ mehr|nur nach|nur mit|nur über|nur aus|nur in|erst nach"
        r"|ist raus|sind raus|fliegt raus|ist weg|abgeschafft|ersetzt|abgelöst|umgestellt|umgestiegen|statt|seit (?:letzt\w+|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|v?\d)|ich will|ich möchte(?:,)? dass|mir ist wichtig|standardmäßig|in diesem (?:projekt|repo)|dieses projekt|gilt (?:für|ab|auch)|heißt (?:bei uns|jetzt)|außer ich"
    ),
    collective=r"wir|uns|unser\w*|das team|hier|im projekt|im repo|alle|kunden|nutzer|anwender",
    contrast=r"nicht|kein\w*|statt|anstatt|sondern|ohne|weder|nichts|niemand|nein",
    every=r"alle\w*|jede\w*|beide\w*|nur|pro|je|ganze\w*|höchstens|mindestens|maximal|alles",
    norm=r"soll(?:en|te|ten)?|gehört|gehören|kommt|kommen|bleibt|bleiben|wird|werden|braucht|bitte|läuft|laufen|heißt|liegt|liegen|steht|stehen",
    change=r"jetzt|nun|neu\w*|inzwischen|mittlerweile|seit|weg|raus",
    passing=(
        r"(?<!ab )(?<!von )heute|diesmal|dieses mal|nur (?:diesmal|heute|kurz|hier|jetzt)|vorerst|fürs erste|erst ?mal|erstmal|vorübergehend|temporär|bis (?:morgen|montag|dienstag|mittwoch|donnerstag|freitag|wir|das|der|die)|morgen|gestern|gerade eben|kurz|ausnahmsweise|einmalig|im moment|momentan|zurzeit"
        r"|vielleicht|eventuell|könnte\w*|würde\w*|angenommen|stell dir vor|ich glaube|ich denke|weiß nicht|nicht sicher|keine ahnung|mal sehen|überlege\w*|hypothetisch|wäre\w*|wenn wir|falls wir|noch nicht"
        r"|scherz|witz|spaß|haha\w*|lol|er sagt|sie sagt|er meint|laut|angeblich|steht da|stand da|hat geschrieben|schreibt|diese (?:datei|funktion|zeile|klasse)|dieser (?:test|fehler|branch)|diesen (?:test|fehler|branch|commit)"
    ),
    asking=r"was|warum|wieso|weshalb|wie|wo|wer|welche\w*|wann|kann|kannst|könnt\w*|soll|sollen|sollte\w*|ist das|sind|hast|gibt es|gibts|darf|muss ich|zeig|guck",
    taking_back=(
        r"(?:war |nur )?(?:ein )?(?:scherz|spaß|witz)|vergiss (?:es|das)|lass (?:es|das|mal)|doch nicht|doch lieber|zurück(?:drehen|rollen|setzen|nehmen)?|rückgängig|quatsch|halt,? nein|nee,? doch|nicht merken|anders überlegt|wir bleiben bei(?:m)? (?:dem|alten|was)|besser nicht|verwerfen|mach (?:das|es) rückgängig|nimm das zurück"
    ),
    known=r"wie (?:gesagt|immer|besprochen|gehabt|schon)|weißt du (?:doch|ja)|hab(?:e)? ich (?:doch|schon)|schon wieder|schon gesagt|nochmal|zur erinnerung|du weißt",
    correcting=r"nein|nee|falsch|stimmt nicht|nicht ganz|quatsch|korrektur|so nicht|halt|eigentlich|stopp",
)

DUTCH: Final = Tongue(
    name="Dutch",
    common="de|het|een|en|is|niet|ik|je|we|wij|van|op|te|dat|die|voor|met|zijn|er|maar|ook|wat|nee|ja|dit|nog|geen|naar|bij|hou|ons",
    lasting=(
        r"altijd|nooit|vanaf (?:nu|vandaag)|voortaan|in (?:de toekomst|het vervolg)|in principe|zonder uitzondering|standaard|telkens|iedere keer|elke keer|overal|in alle|voor alle|bij alle|(?:bij|voor|in|na|op) (?:elk|elke|ieder|iedere)|verplicht|verboten|mag niet|mogen niet|moet|moeten"
        r"|onthoud\w*|vergeet niet|noteer|afspraak|afgesproken|besloten|gekozen|overgestapt|overgegaan|wij? (?:gebruiken|noemen|zeggen|schrijven|houden|doen|deployen|draaien|testen|bouwen)|bij ons|onze|het team|alleen (?:nog|maar|met|via|in)|uitsluitend|niet meer|geen \S+ meer|vervangen|is weg|zijn weg|eruit|afgeschaft"
        r"|ik wil (?:dat|graag)|tenzij|in dit project|dit project|regel is|nieuwe regel|conventie|hou het zo|sinds (?:vorige|januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december|v?\d)|definitief"
    ),
    collective=r"we|wij|ons|onze|het team|hier|iedereen|klanten|gebruikers",
    contrast=r"niet|geen|in plaats van|zonder|maar|nee|niemand|niets",
    every=r"alle|alles|elk|elke|ieder|iedere|beide|alleen|per|hooguit|maximaal|minimaal",
    norm=r"moet\w*|hoort|komt|blijft|wordt|worden|graag|draait|staat|staan",
    change=r"nu|nieuw\w*|inmiddels|sinds|weg|voortaan",
    passing=r"vandaag|deze keer|dit keer|even|eventjes|voorlopig|tijdelijk|tot (?:morgen|maandag)|morgen|gisteren|nu even|eenmalig|misschien|zou\w*|stel dat|denk ik|weet (?:ik )?niet|geen idee|grapje|haha\w*|lol|hij zei|ze zei|volgens|blijkbaar|deze (?:functie|file|test)|dit bestand",
    asking=r"wat|waarom|hoe|waar|wie|welke?|wanneer|kan|kun|zullen|zou|moet ik|is|zijn|heb",
    taking_back=r"grapje|laat maar|vergeet het|toch niet|toch maar niet|terugdraaien|draai (?:het|dat) terug|zet (?:het|dat) terug|bij nader inzien|wacht,? nee|niet onthouden|geintje",
    known=r"zoals (?:gezegd|altijd|afgesproken)|weet je (?:toch|wel)|al gezegd|alweer|weer|ter herinnering|je weet",
    correcting=r"nee|fout|klopt niet|niet helemaal|onjuist|eigenlijk|stop",
)
