"""Words by which a language says that something holds for good, or only for now: the Romance languages."""

from __future__ import annotations

from typing import Final

from curator.reviewer.rules.tongue import Tongue

FRENCH: Final = Tongue(
    name="French",
    common="le|la|les|un|une|des|du|de|et|est|pas|on|je|tu|nous|vous|que|qui|pour|dans|ce|ça|il|elle|sur|avec|ne|en|au|aux|oui|non|c'est|j'ai|l'|d'",
    lasting=(
        r"toujours|jamais|désormais|dorénavant|à l'avenir|à partir de (?:maintenant|aujourd'hui)|dès (?:maintenant|aujourd'hui|à présent)|en (?:règle )?général(?:e)?|par (?:convention|défaut|principe)|sans exception|systématiquement|à chaque fois|chaque fois|partout|définitivement"
        r"|pour tou(?:s|tes|t)(?: (?:les|le|la|nos))?|dans tou(?:s|tes|t)|tou(?:s|tes) (?:nos|les|mes)|(?:pour|dans|à|avant|après) chaque|chaque \w+ (?:a|doit|porte|reçoit|est)|obligatoires?|interdit(?:e|s)?|doi(?:t|vent)|il faut|faut (?:toujours|que|pas)|on ne (?:doit|peut|fait|touche|met|merge|commit|déploie)"
        r"|retiens|retenez|souviens-toi|n'oublie pas|note (?:que|bien|ça)|à retenir|pour info|règle|nouvelle règle|convention|chez nous|nos|notre|l'équipe (?:a|veut|utilise)|on (?:a |s'est )?(?:décidé|choisi|convenu|tranché|acté|abandonné|quitté|remplacé|migré|arrêté|passé|adopté)"
        r"|(?:c'est|est) (?:décidé|acté|tranché|définitif|validé)|décision|on (?:utilise|emploie|dit|appelle|écrit|garde|reste sur|n'utilise|part sur|travaille|fait|déploie|teste|passe par)|nous (?:utilisons|avons)|ne \S+ plus|n'\S+ plus|plus de|plus aucun|n'existe plus|uniquement|seulement|que (?:sur|par|via|dans|avec)"
        r"|je (?:préfère|veux|souhaite|ne veux)|sauf si|dans ce (?:projet|dépôt|repo)|ce (?:projet|dépôt)|depuis (?:la|le|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|v?\d)|à la place de|remplacé par|remplace|au lieu d"
    ),
    collective=r"on|nous|notre|nos|l'équipe|ici|les clients|les utilisateurs|tout le monde",
    contrast=r"pas|non|ni|sans|au lieu|plutôt que|aucun\w*|rien|personne|mais",
    every=r"tou(?:s|t|te|tes)|chaque|les deux|par|seul\w*|uniquement|au (?:plus|moins|maximum)|maximum",
    norm=r"doi\w*|faut|devrai\w*|reste\w*|va|vont|se (?:fait|met|trouve)|tourne\w*|s'appelle|svp|stp|s'il (?:te|vous) plaît",
    change=r"maintenant|nouveau\w*|nouvelle\w*|depuis|changé|désormais|fini|terminé",
    passing=(
        r"aujourd'hui|cette fois|pour (?:l'instant|le moment|une fois|cette fois)|juste (?:là|cette|pour)|là tout de suite|tout de suite|temporaire\w*|provisoire\w*|en attendant|jusqu'à|demain|hier|ce soir|exceptionnellement|une seule fois|vite fait|on remettra"
        r"|peut-être|pourrai\w*|imagine\w*|supposons|si on|je crois|je pense|pas sûr\w*|aucune idée|hypothétique\w*|sans doute|on verra|je me demand\w*|j'hésite|pas encore"
        r"|plaisant\w*|blague|rigole|haha\w*|mdr|ptdr|lol|il dit|elle dit|il a dit|selon|d'après|paraît|voilà ce que|le premier|le second|ce fichier|cette fonction|cette ligne|ce test"
    ),
    asking=r"pourquoi|comment|où|qui|quel\w*|quand|est-ce|qu'est|c'est quoi|tu peux|peux-tu|pourrais|on pourrait|peut-on|y a|combien|faut-il|que fait|as-tu",
    taking_back=r"(?:je )?plaisant\w*|c'était une blague|je rigole|laisse tomber|oublie|laisse|finalement non|non finalement|en fait non|annule|reviens|remets|on revient|ah non|retour arrière|ne retiens pas|j'ai changé d'avis|on laisse tomber",
    known=r"comme (?:je )?(?:d'habitude|toujours|dit|disais|convenu)|je te l'ai (?:déjà )?dit|tu sais bien|tu le sais|déjà dit|encore une fois|pour rappel|je rappelle|encore un",
    correcting=r"non|faux|pas du tout|c'est faux|incorrect|pas exactement|en fait|erreur|stop|mais non",
)

SPANISH: Final = Tongue(
    name="Spanish",
    common="el|la|los|las|un|una|de|del|y|es|no|que|en|se|lo|por|para|con|al|yo|tú|me|te|ya|sí|si|eso|esto|q|está|como|pero|hay|nos",
    lasting=(
        r"siempre|nunca|jamás|a partir de (?:ahora|hoy|este)|de ahora en adelante|desde (?:ahora|hoy|este mes|ya)|en adelante|en el futuro|por (?:norma|regla general|convención|defecto|sistema|principio)|sin (?:ninguna )?excepci(?:ón|ones)|cada vez|en todas partes|en todos lados|permanentemente"
        r"|(?:en|para|con|a) tod[oa]s?(?: (?:los|las|el|la|nuestr\w+))?|tod[oa]s (?:los|las|nuestr\w+)|(?:en|para|por|antes de|después de) cada|cada \w+ (?:lleva|tiene|debe|va|es)|obligatori[oa]s?|prohibid[oa]s?|deb(?:e|en|emos)(?: de)?|hay que|tiene(?:n)? que|no se (?:puede|debe|usa|toca|hace|permite|sube|mezcla)"
        r"|recuerda|recuerden|acuérdate|acordate|no olvides|apunta|anota|ten en cuenta|toma nota|que conste|regla|norma|convención|nuestr[oa]s?|en este (?:proyecto|repo|repositorio)|este (?:proyecto|repo|repositorio)|el equipo (?:decidió|acordó|quiere|usa|prefiere|ha)|(?:hemos|habíamos|ya) (?:decidido|acordado|quedado|cambiado|migrado|pasado|dejado|elegido)"
        r"|decidimos|acordamos|quedamos en|migramos|cambiamos (?:a|de)|dejamos (?:de|atrás)|abandonamos|decidido|acordado|definitivo|decisión|usamos|utilizamos|llamamos|decimos|escribimos|trabajamos|desplegamos|(?:nada|ningún|ninguna) (?:de )?|ya no|nunca más|no más|dej(?:ó|amos) de|únicamente|solamente|sólo|solo (?:se|con|en|por|desde)"
        r"|prefiero|quiero que|no quiero|salvo que|a menos que|en lugar de|en vez de|reemplaz\w+|sustitu\w+|desde (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|la v?\d)|eliminado"
    ),
    collective=r"nosotr\w+|nuestr\w+|el equipo|aquí|acá|todos|los clientes|los usuarios|hemos|tenemos|vamos",
    contrast=r"no|ni|sin|sino|en vez|en lugar|nada|nadie|ningun\w*|ningún|pero",
    every=r"tod[oa]s?|cada|ambos|ambas|solo|sólo|únic\w+|por|como máximo|máximo|mínimo|cualquier\w*",
    norm=r"deb\w+|hay que|tiene\w* que|va|van|queda\w*|lleva\w*|se (?:usa|llama|hace|pone|guarda|escribe|queda|despliega)|por favor|corre\w*",
    change=r"ahora|nuev[oa]s?|ya|cambi\w+|desde|antes",
    passing=(
        r"(?<!desde )(?<!partir de )hoy|esta vez|por (?:ahora|hoy|el momento|esta vez|una vez)|de momento|temporal\w*|provisional\w*|mientras tanto|hasta (?:mañana|que|el)|mañana|ayer|esta (?:noche|tarde|semana)|ahora mismo|un momento|solo (?:hoy|esta|por hoy|ahora)|rápido|una sola vez"
        r"|quizás?|tal vez|podría\w*|imagin\w+|supon\w+|si (?:usáramos|hiciéramos|tuviéramos)|creo que|no sé|no estoy segur\w|a lo mejor|hipotétic\w+|habría que ver|veremos|todavía no"
        r"|broma|bromeo|jaja\w*|jeje\w*|lol|él dice|dice que|dijo|según|al parecer|pone que|tuit|este (?:archivo|fichero|test)|esta (?:función|línea|clase)"
    ),
    asking=r"qué|que es|por qué|cómo|dónde|quién|cuál\w*|cuándo|puedes|podemos|podrías|debería\w*|hay algun\w*|es posible|sabes|tenemos que|¿|q es|cuánt\w+",
    taking_back=r"(?:era |es )?broma|bromeaba|olvídalo|olvidalo|déjalo|dejalo|mejor no|al final no|no,? espera|espera,? no|revierte|reviértelo|deshaz|vuelve (?:a|atrás)|cancela|no lo guardes|cambié de (?:idea|opinión)|como estaba|descártalo",
    known=r"como (?:siempre|dije|ya|te dije|quedamos)|ya (?:lo )?sabes|ya te (?:lo )?(?:dije|he dicho)|otra vez|te recuerdo|de nuevo|ya lo hablamos",
    correcting=r"no|mal|falso|eso no|incorrecto|no exactamente|corrección|en realidad|para|así no|ya,? eso pensé",
)

PORTUGUESE: Final = Tongue(
    name="Portuguese",
    common="o|a|os|as|um|uma|de|do|da|e|é|não|que|em|no|na|por|para|com|se|eu|você|me|já|sim|isso|isto|pra|tá|está|como|mas|tem|dos|das|ao",
    lasting=(
        r"sempre|nunca|jamais|(?:daqui|de agora) (?:pra|para|em) (?:frente|diante)|a partir de (?:agora|hoje|já)|doravante|no futuro|por (?:regra|padrão|convenção|princípio)|via de regra|em geral|sem exceç(?:ão|ões)|toda vez|em tod[oa]s? (?:os|as|o|a|lugar)?|em todo lugar|permanentemente"
        r"|(?:para|pra|com) tod[oa]s?|tod[oa]s (?:os|as|noss\w+)|tod[oa] \w+ (?:\w+ ){0,4}(?:tem|leva|deve|precisa|entra|vai|é|passa)|(?:em|para|por|antes de|depois de) cada|cada \w+ (?:tem|leva|deve|fica|é)|obrigatóri[oa]s?|proibid[oa]s?|dev(?:e|em|emos)|tem que|têm que|precisa(?:m)? (?:ser|ter|de)|não (?:pode|se|é permitido)"
        r"|lembr(?:a|e|em|ar)|não esqueç\w+|anot(?:a|e)|guarda (?:isso|aí)|grava (?:isso|aí)|fica (?:combinado|decidido|registrado)|regra|convenção|padrão|noss[oa]s?|aqui a gente|neste (?:projeto|repo|repositório)|nesse (?:projeto|repo|repositório)|no (?:projeto|repo|repositório)|este projeto|o time (?:decidiu|quer|usa|prefere|fechou|combinou)"
        r"|(?:decidimos|combinamos|fechamos|definimos|mudamos|migramos|trocamos|escolhemos|adotamos|abandonamos|saímos|largamos|paramos de|acordamos)|decidido|combinado|definitivo|decisão|(?:a gente|nós) (?:usa|usamos|chama|chamamos|escreve|faz|fala|decidiu|mudou|trocou|migrou)|usamos|chamamos|nada de|nenhum\w*|não (?:\w+ )?mais|nunca mais|somente|apenas|só (?:com|em|no|na|por|via|pelo|pela|depois|o|a)"
        r"|prefiro|quero que|não quero|a não ser|a menos que|em vez de|no lugar de|substitu\w+|trocad[oa]|desde (?:janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro|a v?\d)|mudou"
    ),
    collective=r"nós|a gente|noss\w+|o time|a equipe|aqui|todos|os clientes|os usuários",
    contrast=r"não|nem|sem|em vez|mas|nada|ninguém|nenhum\w*",
    every=r"tod[oa]s?|cada|ambos|ambas|só|apenas|somente|por|no máximo|máximo|mínimo|qualquer",
    norm=r"dev\w+|tem que|precisa\w*|vai|vão|fica\w*|leva\w*|se (?:usa|chama|faz)|por favor|roda\w*|é feito",
    change=r"agora|nov[oa]s?|já|mud\w+|desde|antes",
    passing=(
        r"(?<!partir de )hoje|desta vez|dessa vez|por (?:enquanto|hoje|ora|agora)|temporari\w*|provisori\w*|provisóri\w*|enquanto (?:isso|não)|até (?:amanhã|que|o|a)|amanhã|ontem|esta (?:noite|semana)|agora mesmo|só (?:hoje|dessa vez|desta vez|agora|uma vez)|rapidinho|uma vez só"
        r"|talvez|poderia\w*|imagin\w+|supon\w+|se a gente|acho que|não sei|não tenho certeza|hipotétic\w+|vamos ver|ainda não|se o cliente"
        r"|brincadeira|brincando|zoeira|zuando|kkk\w*|haha\w*|rsrs\w*|lol|ele disse|diz que|disse que|segundo|parece que|este (?:arquivo|teste)|esse (?:arquivo|teste)|esta (?:função|linha)|essa (?:função|linha)"
    ),
    asking=r"o que|por que|porque|como|onde|quem|qual|quais|quando|pode|podemos|poderia|deveria\w*|tem como|será|dá pra|cadê|quant\w+",
    taking_back=r"(?:era |é |foi |tô )?(?:brincadeira|brincando|zoeira)|zuei|esquece|deixa (?:pra lá|quieto)|melhor não|pensando bem|não,? espera|espera,? não|reverte|desfaz|volta (?:atrás|pro|para o|ao)|cancela|não guarda|mudei de ideia|como estava",
    known=r"como (?:sempre|eu disse|falei|combinado|já)|você (?:já )?sabe|já (?:te )?(?:disse|falei)|de novo|outra vez|lembrando que|só lembrando",
    correcting=r"não|errado|tá errado|incorreto|não exatamente|correção|na verdade|para|assim não",
)

ITALIAN: Final = Tongue(
    name="Italian",
    common="il|lo|la|i|gli|le|un|una|di|del|della|e|è|non|che|in|si|per|con|a|al|da|io|tu|mi|ti|ci|sì|no|questo|questa|come|ma|sono|nn|x|cn|ho|hai|dei|delle|nel",
    lasting=(
        r"sempre|mai|d'ora in (?:poi|avanti)|da (?:ora|oggi|adesso)(?: in (?:poi|avanti))?|in futuro|di (?:norma|regola|default)|in genere|per (?:convenzione|principio|regola)|senza eccezioni|ogni volta|ovunque|dappertutto|dovunque|per tutt[iaeo]|in tutt[iaeo]|tutt[ie] (?:i|gli|le|nostri|nostre)|(?:per|in|a|prima di|dopo) ogni|ogni \w+ (?:ha|deve|va|è|riceve|porta)"
        r"|obbligatori[oae]?|vietat[oaie]|dev(?:e|ono)|bisogna|va (?:sempre|fatt\w+|usat\w+)|vanno|non si (?:può|deve|usa|tocca|fa)|ricorda\w*|tieni (?:a mente|presente|conto)|non dimenticare|segnati|annota|prendi nota|regola|nuova regola|convenzione|da noi|nostr[oaie]|in questo (?:progetto|repo|repository)|questo (?:progetto|repo)|il team (?:ha|vuole|usa|preferisce)"
        r"|abbiamo (?:\w+ )?(?:deciso|scelto|concordato|stabilito|cambiato|migrato|abbandonato|sostituito|lasciato|tolto|adottato)|siamo (?:passati|migrati)|deciso|definitivo|decisione|usiamo|chiamiamo|diciamo|scriviamo|teniamo|facciamo (?:sempre|così)|niente|nessun\w*|non \S+ più|mai più|solo|soltanto|esclusivamente|unicamente"
        r"|preferisco|voglio che|vorrei che|non voglio|a meno che|tranne|al posto di|invece di|sostituit\w+|da (?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre|quando)|non c'è più|non ci sono più"
    ),
    collective=r"noi|nostr\w+|il team|la squadra|qui|qua|tutti|i clienti|gli utenti|abbiamo|usiamo",
    contrast=r"non|nn|né|senza|invece|ma|niente|nessun\w*|nulla",
    every=r"tutt[oiea]|ogni|entramb[ie]|solo|soltanto|per|al massimo|massimo|minimo|qualsiasi|qualunque",
    norm=r"dev\w+|bisogna|va|vanno|resta\w*|sta|stanno|si (?:usa|chiama|fa|mette|salva|scrive)|per favore|x favore|gira\w*",
    change=r"ora|adesso|nuov[oaie]|ormai|cambi\w+|da quando|prima",
    passing=(
        r"(?<!da )oggi|stavolta|questa volta|per (?:ora|adesso|il momento|questa volta|oggi)|temporane\w*|provvisori\w*|nel frattempo|finché|fino a (?:domani|quando)|domani|ieri|stasera|solo (?:oggi|stavolta|per oggi|ora)|un attimo|al momento|una volta sola|velocemente"
        r"|forse|magari|potremmo|potrebbe\w*|immagina\w*|supponi\w*|se (?:usassimo|facessimo)|credo|penso che|non so|non sono sicur\w|ipotetic\w+|vediamo|chissà|non ancora"
        r"|scherz\w+|battuta|ahah\w*|haha\w*|lol|lui dice|dice che|ha detto|secondo|pare che|c'è scritto|altro progetto|questo (?:file|test)|questa (?:funzione|riga|classe)|c'entriamo"
    ),
    asking=r"cosa|che cosa|perché|come|dove|chi|quale|quali|quando|puoi|possiamo|potresti|dovremmo|c'è|hai|sai|quant\w+|si può",
    taking_back=r"(?:stavo )?scherz\w+|era uno scherzo|lascia (?:perdere|stare)|dimentica\w*|anzi no|no,? aspetta|aspetta,? no|meglio di no|torna\w* (?:a|com|indietro)|annulla|ripristina|come prima|ci ho ripensato|ho cambiato idea|non salvarlo",
    known=r"come (?:sempre|dicevo|già|detto|al solito)|lo sai(?: già)?|te l'ho (?:già )?detto|di nuovo|ancora una volta|ti ricordo|già detto",
    correcting=r"no|sbagliato|falso|non è così|non proprio|correzione|in realtà|ferma|così no",
)
