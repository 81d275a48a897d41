"""Words by which a language says that something holds for good, or only for now: those written in Latin letters.

Each is a regular expression, matched at word boundaries without case. See `tongues.Tongue` for what the kinds mean.
"""

from __future__ import annotations

from typing import Final

from curator.reviewer.rules.tongue import Tongue

ENGLISH: Final = Tongue(
    name="English",
    common=(
        "the|and|is|it|to|of|in|that|we|you|not|for|are|on|this|with|what|can|please|pls|no|yes|do|i|be|was|a|an"
        "|as|at|there|there's|so|but|or|by|have|has|if|all|they|my|your|our|from|it's|don't|then|how|why|should"
        "|will|just|thanks|ok|u|ur"
    ),
    lasting=(
        "always|never|from (?:now|here|today) on|going forward|in (?:the )?future|as a (?:general )?rule"
        "|by convention|without (?:any )?exceptions?|no exceptions?|every (?:single )?time|permanently|for good"
        "|forever|(?:house|project|team|new|our|standing|golden) rules?|the rule is|conventions? (?:is|are|here)"
        "|our conventions?|mandatory|compulsory|obligatory|must(?:n't| not)?|is required|are required|no longer"
        r"|not (?:\w+ )?any ?more|        |all (?:of )?our|same for (?:all|every|each)"
        r"|goes for (?:all|every|each|any)\w*|wherever|whenever|whichever"
        r"|every \w+ (?:gets|has|needs|must|should|goes|carries|is|runs|comes)"
        r"|all \w+ (?:go|live|get|have|are|must|need|come|run|use)"
        r"|each \w+ (?:gets|has|needs|must|should|goes|carries|is|lives|runs)|for the record"
        r"|note to (?:everyone|self|all)|(?<!i )(?:remember|rember|rmbr)(?! (?:to|when|the time|how|it|this)\b)"
        "|keep in mind|bear in mind|take note|make a note|note (?:that|this|down)"
        "|we(?: all| only| just| now)? (?:say|use|call|prefer|follow|require|never|ship|support|deploy|release|store|name|review|show|target|sign|pin|tag|host|squash|publish|write|don'?t|do not|stopped|stick to|avoid|read it|standardi[sz]e|spell)"
        "|we(?:'ve| have|'re| are)?(?: now| just| all| finally| already)? (?:agreed|decided|settled|standardi[sz]ed|moved|switched|migrated|dropped|replaced|adopted|chose|chosen|banned|retired|removed|left|using|going with|sticking with|on)"
        "|we(?:'ll| will) (?:use|go with|stick|keep|never|always)"
        "|(?:the )?team (?:agreed|decided|wants|voted|prefers|uses|chose|settled)"
        "|(?:talked|spoke|agreed|discussed it|checked) (?:w|with|to) (?:the )?(?:team|others|everyone|ops|security|legal)"
        "|decision(?: is)?:|(?:it'?s|that'?s|is) (?:decided|settled|final|agreed)|final (?:decision|answer|word)"
        "|unless i (?:say|ask|tell)|unless i'?ve|keep doing (?:it|this|that)|ask (?:me )?(?:first|before|b4)"
        r"|this (?:project|repo|repository|code ?base) (?:\w+ )?(?:is|uses|has|runs|needs|its|targets)"
        "|our (?:standards?|policy|policies|defaults?|style|naming|number|code ?base|code|house style|own|users|customers)"
        "|(?:in|of) our (?:code|codebase|project|repo|docs)|only ever|nothing else|is (?:long )?gone"
        "|are (?:long )?gone"
        r"|(?:is|are) (?:out|dead|banned|forbidden|deprecated|retired|off limits|history)(?= *(?:[.,;:!]|\Z))"
        "|got rid of|moved (?:away )?(?:from|over to)|(?:replaced|switched) (?:by|with|from|to|over)"
        r"|since (?:last|q\d|v?\d|january|february|march|april|may|june|july|august|september|october|november|december)"
        r"|(?:the )?(?:normal|usual|right|correct|official|only) way (?:is|to)|(?:is|are) the only|the only \w+"
        "|not allowed|forbidden|(?:is|are) binding|a habit|make (?:it|that) a (?:habit|rule)"
        "|each (?:january|february|march|april|june|july|august|september|october|november|december|year|quarter|release|month)"
        "|don'?t ever|under no circumstances|at all times|by default|(?:lives?|live) (?:in|under|at)|any ?time"
        r"|each time|henceforth|starting (?:now|today)|as of (?:now|today|v?\d)|effective immediately"
        "|once and for all|until further notice|consistently|generally|in general|on principle|strictly"
        r"|exclusively|prohibited|off[- ]limits|no-go|taboo|shall|may not|can only|only \w+ may|don'?t bother"
        "|write (?:that|this|it) down|for (?:your notes|reference|the future)|fyi"
        "|(?:was|got) (?:renamed|replaced|retired|removed|deprecated|dropped|moved)"
        "|(?:renamed|deprecated|sunset|phased out)|used to be"
        "|(?:is|are) (?:called|named|kept|stored|written|generated|handled|managed|built|tested|deployed|reviewed|released|served|run) (?:in|on|by|with|from|via|under|through)"
        "|going with|go with|goes with|stick (?:with|to)|stay with|settle on|standardi[sz]e on|picked|chose"
        r"|approved|signed off|voted|consensus|(?:it|that)'?s official|x it is|\w+ it is,|we all|around here"
        "|at our (?:company|place|shop)|in our (?:team|company|shop)|house style"
        "|i (?:always|never|can'?t stand|hate it when|prefer|don'?t like|really like|like (?:it|my|when)|expect)"
        r"|my (?:preference|rule)|please (?:never|always|don'?t ever|stop)|stop (?:\w+ing)|no more \w+"
        "|only (?:if|after|when|with|through|via|from)|except (?:when|for|in)|unless|nothing (?:but|else)"
        "|single source of truth|source of truth|agreed(?: with| on)?|per (?:our|team)|the deal is|a must"
        r"|one \w+ (?:per|for each) \w+|never mind the|and that'?s final|period\b(?=\W*\Z)|for that reason we"
        "|we(?:'ve)? (?:got|have) a (?:rule|policy|convention)"
        r"|\Ano (?!need|problem|idea|worries|way|more (?:questions|errors)|errors?|it|that|the|i|we|you|thanks|not|wait|other|just|one|change|luck|rush|hurry)[\w.-]+ (?:\w+ )?(?:in|on|for|without|with|at|please|from|outside|anywhere|allowed)"
        r"|all (?:\w+ ){1,3}(?:are|go|live|follow|use|must|need|start|end|come)"
        r"|\Akeep (?!going|it|this|that|in mind|me|up|an)(?:\w+ ){1,3}(?:below|under|above|small|short|out of|away|free|separate)"
        r"|\w+ it is(?=[.,!]|\Z)|(?:is|are) banned|minimum (?:is|now)|say \w+, (?:not|never)"
        r"|(?!this|its|pass|class|guess|unless)[a-z]\w+s (?:need|require) (?!to\b|\w+ing\b|a (?:fix|look|rewrite|bit|break)|help|more|some|fix)\w+"
        "|(?:ask|check with|ping|tell) me (?:first|before|b4)"
        r"|(?:is|are) (?:off|frozen|read[- ]only|documented|checked in|owned|reserved|taken|mandated|calendar based|written with|spelled)(?= *(?:[.,;:!]|\Z| (?:in|by|here|for|as|with|a|an)\b))"
        r"|\Aonly (?:\w+ ){1,3}(?:may|can|merges?|deploys?|approves?|push(?:es)?|touch(?:es)?|gets?|are|is|have|has)"
        r"|(?:no|not|don'?t|dont|never)\b.{1,60}\bever(?=\W*\Z)"
        r"|i want (?:\w+ ){1,6}(?:on|in|for|before|after|with) (?:every|each|all)"
        "|when (?:in doubt|unsure|you'?re (?:unsure|not sure))"
        "|nobody (?:runs|edits|touches|pushes|merges|deploys|uses|writes|changes|commits)"
        r"|before (?:anything|any|they|it|we) (?:\w+ )?(?:gets?|lands?|merges?|goes|ships?|releases?)"
        r"|\Aour (?:\w+ ){1,3}(?:is|are|starts?|uses?|ends?|follows?|lives?|has|have|goes?|runs?|comes?)"
        r"|\w+s follow \w+|follows (?:the|rfc|iso|semver)|team (?:owns|maintains|runs|handles)"
        r"|we want (?:\w+ ){1,4}(?:history|small|short|everywhere|always|days|max)|contract with|compliance"
        r"|nothing newer|(?:goes|\w+s go) through|is called \w+, (?:not|never)|only through|live[s]? (?:in|under)"
        r"|(?:is|are) now (?!\w+ing|green|red|broken|working|done|fixed|fine)\w+"
        r"|it'?s (?!fixed|done|broken|fine|working|green|ok)\S+ (?:\w+ )?now(?=\W*(?:\Z|ok|,))"
        "|now (?:uses|runs|lives|goes|comes)|everything (?:here |in this repo |we have )?(?:is|uses|runs|goes)"
        r"|since the (?:\w+ )?(?:change|move|migration|switch|upgrade|incident|audit|rewrite|merger|split)"
        r"|we do (?!not|n't|it|that|this|need|have|want|know|the|have)\w+"
        "|we (?:set|mark|sort|serve|return|expose|prefix|suffix|version|hash|encrypt|validate|anonymi[sz]e)"
        r"|with us(?=\W*\Z)|over here(?=\W*\Z)|keep (?:it|that|this) in mind"
        r"|\Ano (?!more|big|real|such|good|further|other|new)\w+ \w+, (?:we|use|just)|no[- ]go|no[- ]no"
        r"|belongs? (?:in|under|into)|since the new \w+"
        r"|(?<!that )nobody (?:here )?(?!knows|understands|cares|told|knew)\w+s"
        "|we (?:self[- ]host|run our|have our own)"
        "|need(?:s)? a (?:ticket|review|test|sign[- ]?off|changelog|licence|license)|just so you know|so you know"
        "|every (?:night|day|morning|week|month|quarter|monday|tuesday|wednesday|thursday|friday|sprint)"
        "|(?:resets?|runs?|rotates?|expires?|happens?|ships?|goes out|restarts?) (?:nightly|daily|weekly|monthly|hourly|yearly)"
        "|i'?m (?:colou?r ?blind|dyslexic|left[- ]handed|new to|learning|not (?:a )?native|deaf)"
        "|(?:legal|security|ops|compliance|qa|infra|privacy|marketing|(?:the )?(?:client|customer|auditors?|dpo)) (?:insists?|requires?|rejects?|demands?|forbids?|mandates?)"
        "|(?:after|since) the (?:incident|outage|audit|breach)|(?:design system|style guide) rule|don'?t give me"
        r"|when you (?:write|make|add|touch|change|explain|answer)|we have (?:them|it|that) \w+ everywhere"
    ),
    collective=(
        "we|our|ours|us|the team|here|the project|this project|the repo|everyone|people|users?|customers?|clients?"
    ),
    contrast=(
        "not|n'?t|instead(?: of)?|rather than|no|isn'?t|aren'?t|without|neither|nor|nothing|nobody|none|doesn'?t"
        "|don'?t|dont|old"
    ),
    appositive=(
        r", (?:and )?(?:not|never) (?!sure|yet|now|really|bad|today)\w+"
        r"|, no (?!need|problem|idea|worries|rush)[\w.-]+"
    ),
    every=(
        "all|every|each|any|anything|anyone|everything|everywhere|both|only|per|whole|entire|none|at most"
        "|at least|max|maximum|minimum|(?:in )?this (?:project|repo|repository|code ?base)"
    ),
    norm=(
        "should(?:n'?t)?|has to|have to|needs?|goes? in(?:to)?|stays?|gets?|belongs?"
        "|i (?:don'?t )?(?:want|like|prefer|need|hate)|i'?d like|runs? (?:on|in|with)|comes? (?:from|with)|uses?"
        "|is called|means?|counts?|go(?:es)?|follows?|starts? with|ends? with|lives?|sits?|owns?|contains?"
        "|requires?|speaks?|carry|carries|must|are (?:kept|stored|named|called|written)"
    ),
    change="now|gone|changed|moved|switched|replaced|since|already|new|dropped|out",
    passing=(
        "today|tonight"
        "|this (?:once|time|week|morning|afternoon|evening|sprint|month|one|file|function|line|branch|pr|commit|ticket|issue|test|class|method|script|page|error)"
        "|just (?:once|now|here|this)|only (?:once|here|this)|for (?:now|the moment|the time being|today|this)"
        r"|right now|at the moment|temporar\w+|until|tomorrow|yesterday|in (?:a|ten|five|\d+) minutes?"
        "|for a (?:sec|second|minute|moment)|quickly|real quick|asap|once more|maybe|perhaps|might|could|would"
        r"|suppose|imagine|hypothetical\w*|what if|probably|possibly|wonder\w*|i think|i guess|not sure|unsure"
        "|no idea|let me think|thinking (?:of|about)|thought experiment|dunno|don'?t know|undecided|considering"
        r"|if we|if only|kidding|joking|joke|jk|haha\w*|lmao|rofl|sarcas\w*|pony|ponies|lol|he said|she said"
        "|they said|he says|she says|they say|someone (?:said|wrote)|according to|it says|says that|wrote that"
        r"|told me|heard that|i read|the docs say|claims?|apparently|broke|fails?|failing|failed|crash\w*"
        "|worked for|got this|had (?:trouble|been)|wondered|happy to|does it|did|broken|used to|all is|a day"
        "|he likes|she likes|must be (?:a|an|the|some|something)|must have|sort (?:it|this|that) out"
        r"|in the morning|\d (?:am|pm)"
        "|the (?:new|next|first|second|third|last|previous|same) (?:step|one|option|approach|version|suggestion|idea|plan|endpoint|file|function|thing|part|page|test)"
        "|add a|if i ever|use the wrong|sucks?|is bad|too much|weird|my (?:birthday|laptop|machine|branch|fork)"
        "|meeting|lunch|vacation|holidays?|birthday|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|puzzle"
        "|let'?s see|other project|someday|eventually|no coffee|more coffee|pirate"
        "|for this (?:one|demo|run|test|release|build)|this (?:run|demo|release|build)|one[- ]off|throw ?away"
        "|scratch|hack|debugging|while (?:we|i|you)|before (?:lunch|the demo|the meeting)|demo|spike"
        r"|experiment\w*|just to (?:see|check|test)|let me (?:know|check|see)|i'?ll (?:see|check|think|ask|let)"
        "|we'?ll see|later|soon|some ?day|hmm+|tempted|toying|curious|in theory|just saying"
        r"|don'?t (?:quote|hold) me|wish|if (?:only|we|i|you|they)\b(?! (?:ever )?(?:ask|say|tell))|pretend"
        r"|would be (?:fun|funny|cool|nice)|coffee|beer|pizza|cat|dog|weekend|unicorn\w*|magic|lottery|retire"
        r"|quit my job|farm|moon|pass(?:es|ed|ing)?(?: now)?(?=\W*(?:\Z|,|now|thanks))"
        r"|tests? (?:are )?(?:green|red)|errors?\b(?= (?:when|on|in my|again))|returns? null"
        r"|takes? (?:\d+|forever|ages|too|so)"
        "|(?:is|are) (?:down|slow|red|green|missing|failing|hanging|stuck|empty|blank)|find out"
        "|works? (?:now|again|fine|on my)|it works|have a look|new (?:designer|colleague|intern|boss)"
        "|race condition"
        r"|(?:article|post|guide|book|video|ticket|readme|docs?|documentation|issue|email|mail) (?:\w+ )?(?:says?|recommends?|suggests?|claims?|states?)"
        "|you always|i always (?:forget|wonder|thought|get|have|had|see|mix)"
        "|i never (?:know|get|remember|understood|saw|used|noticed|thought)"
        "|never (?:used|seen|knew|heard|got|understood|noticed|worked|thought)|always been"
        r"|(?:don'?t|do not) (?:change|touch|do|merge|push|commit|start) (?:anything|yet|it)|hold on|yet(?=\W*\Z)"
        "|i (?:prefer|like) th(?:e|is|at)|go with (?:the|that|it|this|your|option)|no clue|think about"
        r"|obviously(?=\W*\Z)|ask (?:him|her|them|around)|recommends?|suggests?|advises?|rumou?rs?|as if"
        "|(?:it|that|this|i|he|she|they|there|you|what|who|which|tests?|build) (?:was|were)"
        "|(?:has|have|had|'ve|'s) been|was (?:broken|slow|down|just|about|trying|going|wondering)"
        r"|(?:is|are|looks?) (?:fine|good|great|clear)(?= *(?:now|\W|\Z))|you never|i promised"
        "|(?:the )?competitors?|their (?:style|team|code|docs|rules?|company)|(?:other|another) (?:team|company)"
        "|(?:last|old|previous) (?:company|job|employer|team)"
        r"|always (?:wanted|loved|liked|hated|thought|knew|dreamed)|never again(?=[.,!]|\Z)|good times|up to me"
        "|on (?:call|holiday|leave)"
    ),
    asking=(
        "what|why|how|where|who|which|when|whats|can|could|should|would|will|is|are|does|do you|did|has|have you"
        "|any idea|wat|y|shall|may i|am i|do we|don'?t we|do i|doesn'?t|isn'?t|aren'?t|didn'?t|won'?t|couldn'?t"
        "|shouldn'?t|remind me|tell me (?:what|how|why|if|where)|show me|explain"
    ),
    taking_back=(
        "(?:just |only )?(?:kidding|joking)|i (?:was|am|'m) (?:kidding|joking)|i was|never ?mind|nvm|scratch that"
        "|scrap (?:that|it|this)|forget (?:that|it|this|what i|about it)|ignore (?:that|what i)"
        "|take (?:that|it) back|(?:that|it) was a joke"
        "|don'?t (?:save|store|remember|memorize|do) (?:that|this|it)|revert|undo|roll (?:it|that) back"
        "|put it back|on second thoughts?|changed my mind|after all|we stay with what we have|no wait|wait,? no"
        "|not on any roadmap|thought experiment|cancel that|better not|leave it as it (?:was|is)"
        "|back to how it was|strike that|(?:oh |ah )?(?:forget|ignore) (?:it|that|my last|what)"
        r"|(?:let'?s )?not do that|drop (?:that|it)|(?:actually|hm+),? no\b|no,? actually"
        r"|keep (?:it|things) as (?:it|they) (?:is|are|was|were)|as it was|go back to|back to \w+|reverse that"
        r"|undo that|withdraw\w*|never happened|don'?t (?:bother|do it)|bad idea"
        "|i (?:don'?t|didn'?t) mean (?:it|that)|just messing|pulling your leg|as a joke|obviously not"
        "|of course not|on second thought|never mind that|stays? as it (?:was|is)"
        "|we(?:'ll)? (?:keep|stay with|stick with) (?:the )?(?:old|what)|let'?s not|skip (?:it|that)|abort"
        "|not (?:really |being )?serious|on reflection|too (?:risky|complicated|expensive)|not worth it|bin it"
        "|stay on|just for fun|for laughs|(?:just )?venting|both for the time being|back to the|never mind"
    ),
    known=(
        "as (?:i )?(?:said|told|always|usual|you know)|you know (?:how|that|i|we)|like i said"
        "|already (?:said|told)|i told you|how often|same as always|the usual|reminder"
    ),
    correcting=(
        "no+|nope|nah|wrong|not quite|incorrect|correction|actually"
        "|that'?s (?:wrong|not right|incorrect|not correct|not it)|not like that|stop"
    ),
)

GERMAN: Final = Tongue(
    name="German",
    common=(
        "der|die|das|und|ist|nicht|wir|ich|du|ein|eine|im|in|den|dem|mit|auf|für|es|was|ja|nein|bitte|zu|von|auch"
        "|noch|dann|mal|nur|wie|kein|keine"
    ),
    lasting=(
        "immer|nie(?:mals)?|(?:ab|von) (?:jetzt|sofort|heute|nun)(?: an)?|künftig|zukünftig|in zukunft|fortan"
        "|grundsätzlich|generell|prinzipiell|ausnahmslos|ohne ausnahme|stets|jedes ?mal|für immer|dauerhaft"
        r"|alle unsere|jede[rs]? \w+ (?:bekommt|braucht|hat|muss|geht|kommt|ist)|pflicht|verpflichtend|verbindlich"
        "|zwingend|verboten|nicht erlaubt|tabu|darf nicht|dürfen nicht|darf nie|merk(?:e|t)?(?: dir)?|merken"
        "|denk dran|nicht vergessen|notier(?:e|en)?|fürs protokoll|als regel|die regel|regel ist|neue regel"
        "|konvention|bei uns|in unserem|unsere[nrsm]?"
        "|wir (?:haben )?(?:uns )?(?:beschlossen|entschieden|geeinigt|festgelegt|abgesprochen)"
        r"|(?:haben|hat|ist|sind) (?:\S+ ){0,8}(?:beschlossen|entschieden|geeinigt|festgelegt|umgestellt|umgestiegen|gewechselt|abgeschafft|abgelöst|ersetzt)"
        "|beschlossen|entschieden|geeinigt|festgelegt"
        "|wir (?:nutzen|verwenden|benutzen|nehmen|nennen|sagen|schreiben|machen das|bauen|setzen|bleiben|deployen|testen|arbeiten|hosten|speichern)"
        "|das team (?:hat|will|nutzt)|nur noch|ausschließlich|erst nach|ist raus|sind raus|fliegt raus"
        "|abgeschafft|umgestellt|umgestiegen"
        r"|seit (?:letzt\w+|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|v?\d)"
        "|ich möchte(?:,)? dass|standardmäßig|in diesem (?:projekt|repo)|dieses projekt|gilt (?:für|ab|auch)"
        "|heißt (?:bei uns|jetzt)|außer ich|in der regel|im(?:mer)? nur|jedesmal|erst (?:wenn|nach)"
        r"|haltet? (?:das |es )?fest|halten wir fest|schreib(?: dir)? (?:das )?auf|vermerk\w*|behalt\w*"
        "|vergiss nicht|zur info|ist gesetzt|steht fest|abgemacht|vereinbart|vereinbarung|absprache|einigung"
        "|abgestimmt|freigegeben|festlegung|team(?:-| )?(?:beschluss|entscheidung|regel)|wir gehen (?:auf|mit)"
        r"|wir haben (?:\S+ ){0,4}(?:umbenannt|abgeschafft|ersetzt|eingeführt|gelöscht)|umbenannt|veraltet"
        r"|werden (?:\S+ ){0,5}(?:gespeichert|geschrieben|verwendet|gebaut|getestet|abgelegt|geprüft)"
        r"|wird (?:\S+ ){0,5}(?:gespeichert|geschrieben|verwendet|gebaut|getestet|abgelegt|geprüft)"
        r"|bitte (?:kein\w*|nie|immer|nur)|hör auf|lass (?:die|das|den) \w+ (?:weg|sein)|es sei denn"
        r"|außer (?:bei|wenn|in)|ohne (?:\w+ )?(?:geht|wird|kommt) nichts|so ist das bei uns|unser\w*"
        r"|(?<=\w )(?:nutzen|verwenden|benutzen|nehmen|nennen|schreiben|bauen|setzen|speichern|testen|deployen|hosten|halten|legen|führen|prüfen|loggen|rechnen) wir(?! das| es| mal| jetzt| noch| erst)"
        r"|(?:\A|, (?:also |so |dus |więc |então |quindi |donc |así que )?)keine? (?!ahnung|sorge|problem|zeit|fehler|lust|idee|angst|ursache|eile|änderung)\S+ (?:\S+ )?(?:in|im|bei|ohne|mit|für|auf|mehr|bitte)"
        "|ich mag keine?|fass dich kurz|nebeneinander"
        r"|(?:brauchen|braucht|benötigen|benötigt) (?:zwei|drei|mindestens|\d|immer|eine? )"
        r"|frag(?:e|st)? mich (?:\S+ ){0,3}(?:vor|bevor|zuerst|erst|immer)"
        r"|vor jede[rmn]? \S+ (?:\S+ ){0,3}(?:fragen|gefragt|frag)|ist tot|gilt nicht mehr|gültig ist"
        "|gilt (?:nur|nur noch)"
        r"|(?:deployen|mergen|releasen|nutzen|verwenden|committen|pushen|testen|loggen) wir (?:\S+ ){0,3}(?:nicht|nie|kein\w*)"
        r"|wir (?:deployen|mergen|releasen|committen|pushen|loggen|mocken|machen) (?:\S+ ){0,4}(?:nicht|nie|kein\w*)"
        r"|freitags|(?:\A|[,.] ?)nicht \w+, wir (?:haben|nutzen|nehmen|verwenden)"
        r"|lassen wir (?:grundsätzlich|immer|komplett)?\s?raus|ich will (?:vor|bei|nach|in|für) jede\w*"
        r"|(?:ist|sind|heißt) jetzt (?!fertig|grün|kaputt|da|gut|ok)\S+"
        r"|alles (?:hier |bei uns )?(?:ist|läuft|in|mit|auf) (?!grün|gut|ok|kaputt|klar)\S+"
        r"|seit der \S+(?:umstellung|migration|änderung|umzug|wechsel)|(?:hier|bei uns) ist alles"
        r"|niemand(?! (?:weiß|versteht|kennt|hat|mehr))|ohne \S+ (?:kommt|geht|wird|gibt es) kein\w*|schreiben wir"
        "|liest? das nebenbei|nur damit du'?s weißt|damit du es weißt"
        "|jede[nrs]? (?:nacht|tag|morgen|woche|monat|quartal|montag|dienstag|mittwoch|donnerstag|freitag)"
        r"|ich bin (?:farbenblind|legastheniker\w*|linkshänder\w*|neu in)"
        "|(?:rechtsabteilung|datenschutz|security|der kunde|betrieb|revision) (?:besteht|verlangt|fordert|verbietet)"
        "|seit dem (?:vorfall|ausfall|audit)|nach dem (?:vorfall|ausfall|audit)"
    ),
    collective=r"wir|uns|unser\w*|das team|hier|im projekt|im repo|alle|kunden|nutzer|anwender",
    contrast=(r"nicht|kein\w*|statt|anstatt|sondern|ohne|weder|nichts|niemand|nein|keine? \w+ (?:bitte|mehr|ohne|in)"),
    appositive=r", nicht (?!mehr|wahr|so|jetzt)\w+",
    every=(
        r"alle\w*|jede\w*|beide\w*|nur|pro|je|ganze\w*|höchstens|mindestens|maximal|alles|überall|in allen"
        "|für alle|bei allen|in jede[mnrs]?|bei jede[mnrs]?|für jede[mnrs]?|vor jede[mnrs]?|nach jede[mnrs]?"
        "|nur nach|nur mit|nur über|nur aus|nur in|nur (?:wenn|wer|der|die|das|per|mit|noch)"
        r"|alle (?:\w+ ){1,3}(?:müssen|sollen|kommen|gehen|bekommen|werden|sind|heißen)|jeweils"
    ),
    norm=(
        "soll(?:en|te|ten)?|gehört|gehören|kommt|kommen|bleibt|bleiben|wird|werden|braucht|läuft|laufen|heißt"
        "|liegt|liegen|steht|stehen|muss|müssen|ich will"
        "|ich (?:mag|bevorzuge|hasse|hätte gern|brauche|lese|arbeite)|läuft (?:jetzt|nun|über|auf)"
        "|laufen (?:jetzt|nun|über|auf)|liegt (?:jetzt|in|unter)|liegen (?:jetzt|in|unter)|kommt in|kommen in"
        "|gehört in|gehören in|mir (?:lieber|reicht|ist lieber)|mir ist wichtig|am liebsten|folgen|folgt"
        "|beginnen mit|beginnt mit|nutzt|nutzen|verwendet|verwenden|kommt aus|kommen aus|darf|dürfen|liegen neben"
    ),
    change=(
        r"jetzt|nun|neu\w*|inzwischen|mittlerweile|seit|weg|raus|nicht mehr|kein\w* \S+ mehr|ist weg|abgelöst"
        "|ersetzt|eingestellt"
    ),
    passing=(
        "(?<!ab )(?<!von )heute|diesmal|dieses mal|nur (?:diesmal|heute|kurz|hier|jetzt)|vorerst|fürs erste"
        "|erst ?mal|erstmal|vorübergehend|temporär"
        "|bis (?:morgen|montag|dienstag|mittwoch|donnerstag|freitag|wir|das|der|die)|morgen|gestern|gerade eben"
        r"|kurz|ausnahmsweise|einmalig|im moment|momentan|zurzeit|vielleicht|eventuell|könnte\w*|würde\w*"
        "|angenommen|stell dir vor|ich glaube|ich denke|weiß nicht|nicht sicher|keine ahnung|mal sehen"
        r"|überlege\w*|hypothetisch|wäre\w*|wenn wir|falls wir|noch nicht|scherz|witz|spaß|haha\w*|lol|er sagt"
        "|sie sagt|er meint|laut|angeblich|steht da|stand da|hat geschrieben|schreibt"
        "|diese (?:datei|funktion|zeile|klasse)|dieser (?:test|fehler|branch)"
        "|diesen (?:test|fehler|branch|commit)"
        "|nur für (?:diesen|diese|dieses|den|die|das) (?:test|demo|lauf|moment)|für die demo|später|nachher"
        r"|gleich|bald|irgendwann|experiment\w*|probier\w*|testweise|zum testen|wegwerf\w*|mal schauen|schauen wir"
        r"|überleg\w*|tendiere|neugierig|theoretisch|kaffee|bier|pizza|lotto|rente|einhorn"
        r"|wäre (?:lustig|cool|schön)|würde ich|fehler|stürz\w*|schlägt fehl|fehlgeschlagen|kaputt"
        r"|geht nicht(?! (?:mehr )?ohne)|funktioniert\w*|läuft (?:bei mir|nicht)|laufen (?:bei mir|nicht)|grün"
        "|langsam|abgestürzt|den diff|nicht erreichbar|danke|eine stunde|hängt|frage mich|schon immer|im blog"
        r"|man sagt|ändere? noch|noch nichts|empfiehlt|empfehlen|als ob|stell dir|\A(?:früher|damals)\b(?!.*jetzt)"
    ),
    asking=(
        r"was|warum|wieso|weshalb|wie|wo|wer|welche\w*|wann|kann|kannst|könnt\w*|soll|sollen|sollte\w*|ist das"
        "|sind|hast|gibt es|gibts|darf|muss ich|zeig|guck|müssen wir|nutzen wir|haben wir|brauchen wir|machen wir"
        "|sollen wir|wozu|erinner"
    ),
    taking_back=(
        "(?:war |nur )?(?:ein )?(?:scherz|spaß|witz)|vergiss (?:es|das)|lass (?:es|das|mal)|doch nicht"
        "|doch lieber|zurück(?:drehen|rollen|setzen|nehmen)?|rückgängig|quatsch|halt,? nein|nee,? doch"
        "|nicht merken|anders überlegt|wir bleiben bei(?:m)? (?:dem|alten|was)|besser nicht|verwerfen"
        "|mach (?:das|es) rückgängig|nimm das zurück|lassen wir (?:das|es)|bleibt (?:bei|alles|es)|ach nein"
        "|bleiben wir bei|lohnt (?:sich )?nicht|zu riskant|lieber nicht|nicht ernst|abbrechen"
        "|war nicht ernst gemeint|nur so (?:dahin )?gesagt"
    ),
    known=(
        "wie (?:gesagt|immer|besprochen|gehabt|schon)|weißt du (?:doch|ja)|hab(?:e)? ich (?:doch|schon)"
        "|schon wieder|schon gesagt|nochmal|zur erinnerung|du weißt"
    ),
    correcting="nein|nee|falsch|stimmt nicht|nicht ganz|quatsch|korrektur|so nicht|halt|eigentlich|stopp",
)

DUTCH: Final = Tongue(
    name="Dutch",
    common=(
        "de|het|een|en|is|niet|ik|je|we|wij|van|op|te|dat|die|voor|met|zijn|er|maar|ook|wat|nee|ja|dit|nog|geen"
        "|naar|bij|hou|ons"
    ),
    lasting=(
        "altijd|nooit|vanaf (?:nu|vandaag)|voortaan|in (?:de toekomst|het vervolg)|in principe"
        "|zonder uitzondering|standaard|telkens|iedere keer|elke keer|verplicht|verboten|mag niet|mogen niet"
        r"|onthoud\w*|vergeet niet|noteer|afspraak|afgesproken|besloten|gekozen|overgestapt|overgegaan"
        "|(?:we|wij) (?:gebruiken|noemen|zeggen|schrijven|houden|doen|deployen|draaien|testen|bouwen)|bij ons"
        "|onze|het team|uitsluitend|afgeschaft|ik wil (?:dat|graag)|tenzij|in dit project|dit project|regel is"
        "|nieuwe regel|conventie|hou het zo"
        r"|sinds (?:vorige|januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december|v?\d)"
        "|definitief|steeds|in het algemeen|pas na|pas als|schrijf op|vastgelegd|akkoord|beslissing|keuze"
        r"|we gaan (?:voor|met|over)|hernoemd|verhuisd|wordt (?:\S+ ){0,4}(?:opgeslagen|gebruikt|gebouwd|getest)"
        r"|worden (?:\S+ ){0,4}(?:opgeslagen|gebruikt|gebouwd|getest)|graag (?:altijd|nooit|alleen)"
        r"|geen \w+ (?:meer|in|zonder|aub)|stop met|behalve"
        r"|(?<=\w )(?:gebruiken|noemen|schrijven|bouwen|testen|bewaren|houden|draaien) (?:we|wij)(?! dat| het| nu| even)"
        r"|(?:\A|, (?:also |so |dus |więc |então |quindi |donc |así que )?)geen (?!idee|probleem|zorgen|tijd|fouten|haast)\S+ (?:\S+ )?(?:in|op|bij|zonder|met|voor|meer)"
        r"|(?:hebben|heeft) (?:\S+ ){0,4}(?:gekozen|besloten|afgesproken|gewisseld|vervangen)"
        r"|(?:deployen|mergen|releasen|gebruiken|committen|pushen|testen|loggen) (?:we|wij) (?:\S+ ){0,3}(?:niet|nooit|geen|alleen)"
        r"|(?:we|wij) (?:deployen|mergen|releasen|committen|pushen|loggen|mocken|doen) (?:\S+ ){0,4}(?:niet|nooit|geen)"
        r"|elke? \S+ (?:heeft|krijgt|moet)|vraag (?:het )?me (?:\S+ ){0,3}(?:voor|eerst)|geldt niet meer"
        r"|is leidend|(?:heeft|hebben) (?:\S+ ){0,4}gekozen|(?:is|zijn) nu (?!klaar|groen|kapot|goed)\S+"
        r"|alles (?:hier )?(?:is|draait|gaat) (?!groen|goed|ok|kapot)\S+|niemand (?!weet|begrijpt|heeft)\w+"
        r"|(?<=\w )(?:schrijven|bewaren|testen) we|ter info|elke (?:nacht|dag|week|maand)"
        "|ik ben (?:kleurenblind|dyslectisch|linkshandig)|sinds (?:het|de) (?:incident|storing|audit)"
        "|(?:juridisch|security|de klant) (?:eist|verbiedt|wil)"
    ),
    collective="we|wij|ons|onze|het team|hier|iedereen|klanten|gebruikers",
    contrast="niet|geen|in plaats van|zonder|maar|nee|niemand|niets",
    appositive=r", niet (?!meer|nu)\w+",
    every=(
        "alle|alles|elk|elke|ieder|iedere|beide|alleen|per|hooguit|maximaal|minimaal|overal|in alle|voor alle"
        "|bij alle|(?:bij|voor|in|na|op) (?:elk|elke|ieder|iedere)|alleen (?:nog|maar|met|via|in)|alleen als"
        "|alleen na|iedereen"
    ),
    norm=(
        r"moet\w*|hoort|komt|blijft|wordt|worden|draait|staat|staan|moet|moeten|draait (?:nu|op)|draaien (?:nu|op)"
        "|staat (?:in|nu)|staan (?:in|nu)|komt in|hoort in|ik (?:heb liever|hou van|haat|vind|gebruik)|liever"
    ),
    change=r"nu|nieuw\w*|inmiddels|sinds|weg|voortaan|niet meer|geen \S+ meer|is weg|zijn weg|eruit|vervangen",
    passing=(
        "vandaag|deze keer|dit keer|even|eventjes|voorlopig|tijdelijk|tot (?:morgen|maandag)|morgen|gisteren"
        r"|nu even|eenmalig|misschien|zou\w*|stel dat|denk ik|weet (?:ik )?niet|geen idee|grapje|haha\w*|lol"
        "|hij zei|ze zei|volgens|blijkbaar|deze (?:functie|file|test)|dit bestand|later|straks|binnenkort|ooit"
        r"|experiment\w*|probeer\w*|voor de demo|koffie|bier|pizza|stel je voor|nieuwsgierig|in theorie"
        r"|fout(?:melding)?|crasht?\w*|werkt (?:niet|weer|nu)|slagen|traag|kapot|bedankt|vraag me af|wacht|raadt"
        r"|alsof|\A(?:vroeger|destijds)\b(?!.*nu)"
    ),
    asking="wat|waarom|hoe|waar|wie|welke?|wanneer|kan|kun|zullen|zou|moet ik|is|zijn|heb",
    taking_back=(
        "grapje|laat maar|vergeet het|toch niet|toch maar niet|terugdraaien|draai (?:het|dat) terug"
        "|zet (?:het|dat) terug|bij nader inzien|wacht,? nee|niet onthouden|geintje|niet de moeite|te riskant"
        "|niet serieus|terug naar|laten zoals"
    ),
    known=("zoals (?:gezegd|altijd|afgesproken)|weet je (?:toch|wel)|al gezegd|alweer|weer|ter herinnering|je weet"),
    correcting="nee|fout|klopt niet|niet helemaal|onjuist|eigenlijk|stop",
)
