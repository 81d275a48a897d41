"""Words by which a language says that something holds for good, or only for now: the Romance languages."""

from __future__ import annotations

from typing import Final

from curator.reviewer.rules.tongue import Tongue

FRENCH: Final = Tongue(
    name="French",
    common=(
        "le|la|les|un|une|des|du|de|et|est|pas|on|je|tu|nous|vous|que|qui|pour|dans|ce|ça|il|elle|sur|avec|ne|en"
        "|au|aux|oui|non|c'est|j'ai|l'|d'"
    ),
    lasting=(
        "toujours|jamais|désormais|dorénavant|à l'avenir|à partir de (?:maintenant|aujourd'hui)"
        "|dès (?:maintenant|aujourd'hui|à présent)|en (?:règle )?général(?:e)?|par (?:convention|défaut|principe)"
        "|sans exception|systématiquement|à chaque fois|chaque fois|définitivement"
        r"|chaque \w+ (?:a|doit|porte|reçoit|est)|obligatoires?|interdit(?:e|s)?"
        "|on ne (?:doit|peut|fait|touche|met|merge|commit|déploie)|retiens|retenez|souviens-toi|n'oublie pas"
        "|note (?:que|bien|ça)|à retenir|pour info|règle|nouvelle règle|convention|chez nous|nos|notre"
        "|l'équipe (?:a|veut|utilise)"
        "|on (?:a |s'est )?(?:décidé|choisi|convenu|tranché|acté|abandonné|quitté|remplacé|migré|arrêté|passé|adopté)"
        "|(?:c'est|est) (?:décidé|acté|tranché|définitif|validé)|décision"
        "|on (?:utilise|emploie|dit|appelle|écrit|garde|reste sur|n'utilise|part sur|travaille|fait|déploie|teste|passe par)"
        "|nous (?:utilisons|avons)|n'existe plus|sauf si|dans ce (?:projet|dépôt|repo)|ce (?:projet|dépôt)"
        r"|depuis (?:la|le|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|v?\d)"
        "|d'office|une fois pour toutes|jusqu'à nouvel ordre|exclusivement|strictement|il est interdit"
        "|on n'a (?:pas|plus) le droit|à ne (?:jamais|pas)|mets-toi ça|garde (?:en tête|ça)|gardez"
        "|pense à toujours|c'est noté que|on part sur|on reste sur|on va (?:avec|sur)|va pour"
        r"|c'est (?:la règle|le standard|réglé|entendu)|convenu|validé par|l'équipe|choisi|tranché|renommé\w*"
        r"|vit dans|(?:est|sont) (?:stocké|rangé|écrit|généré|déployé|testé|géré|servi)\w*|je déteste|évite(?:z)?"
        r"|arrête de|sans (?:\w+ )?(?:validation|revue|accord)|sauf (?:pour|en|quand)|uniquement (?:si|après|via)"
        "|seulement (?:si|après|via)|dans (?:l'équipe|notre)|stp (?:toujours|jamais)|je préfère que"
        "|je veux (?:toujours|que tu (?:toujours|ne|n'))"
        r"|(?:\A|, (?:also |so |dus |więc |então |quindi |donc |así que )?)pas (?:de |d')(?!souci|problème|panique|erreur|chance|idée|temps|stress)\S+ (?:\S+ )?(?:dans|en|sur|sans|pour|avec|chez)"
        "|c'est fini|(?:on|nous) (?:préfère|préférons)|je préfère(?! que tu fasses)"
        r"|on ne \w+ (?:pas|que|jamais|plus) (?!encore)|on n'\w+ (?:pas|que|jamais|plus)"
        r"|(?:ont|a) besoin d(?:e|')\s?(?:deux|trois|au moins|\d|une? )|nécessit(?:e|ent)"
        r"|demande-moi (?:\S+ )?(?:avant|toujours|d'abord)|me demand\w+ (?:\S+ )?avant|est morte?|fait foi"
        r"|n'est plus (?:valable|utilisé\w*)|c'est (?!bon|mieux|fini)\S+ maintenant"
        r"|maintenant c'est (?!bon|mieux)\S+|ici(?:,)? (?:on fait )?tout|tout est (?:en|sur|avec) "
        r"|personne ne (?!sait|comprend|m'a)\w+|chaque (?:nuit|jour|matin|semaine|mois|lundi|vendredi)"
        r"|je suis (?:daltonien\w*|dyslexique|gaucher)|(?:depuis|après) (?:l'incident|l'audit|la panne)"
        "|(?:le juridique|la sécurité|le client) (?:insiste|exige|impose|interdit)"
    ),
    collective="on|nous|notre|nos|l'équipe|ici|les clients|les utilisateurs|tout le monde",
    contrast=(
        r"pas|non|ni|sans|au lieu|plutôt que|aucun\w*|rien|personne|mais|pas de \w+|à la place de|au lieu d"
        r"|aucun\w* \w+ (?:sans|dans|en)"
    ),
    appositive=r", pas (?!mal|encore|maintenant)\w+",
    every=(
        r"tou(?:s|t|te|tes)|chaque|les deux|par|seul\w*|uniquement|au (?:plus|moins|maximum)|maximum|partout"
        "|pour tou(?:s|tes|t)(?: (?:les|le|la|nos))?|dans tou(?:s|tes|t)|tou(?:s|tes) (?:nos|les|mes)"
        "|(?:pour|dans|à|avant|après) chaque|à chaque|au maximum|seulement|que (?:sur|par|via|dans|avec)"
    ),
    norm=(
        r"doi\w*|faut|devrai\w*|reste\w*|va|vont|se (?:fait|met|trouve)|tourne\w*|s'appelle|doi(?:t|vent)|il faut"
        "|faut (?:toujours|que|pas)|je (?:préfère|veux|souhaite|ne veux)|tourne(?:nt)? (?:sur|sous|maintenant)"
        "|se trouve(?:nt)?|va dans|vont dans|j'ai besoin|j'aime mieux"
    ),
    change=(
        r"maintenant|nouveau\w*|nouvelle\w*|depuis|changé|désormais|fini|terminé|ne \S+ plus|n'\S+ plus|plus de"
        r"|plus aucun|remplac\w+|remplacé par|remplace|supprimé\w*|abandonn\w+"
    ),
    passing=(
        "aujourd'hui|cette fois|pour (?:l'instant|le moment|une fois|cette fois)|juste (?:là|cette|pour)"
        r"|là tout de suite|tout de suite|temporaire\w*|provisoire\w*|en attendant|jusqu'à|demain|hier|ce soir"
        r"|exceptionnellement|une seule fois|vite fait|on remettra|peut-être|pourrai\w*|imagine\w*|supposons|si on"
        r"|je crois|je pense|pas sûr\w*|aucune idée|hypothétique\w*|sans doute|on verra|je me demand\w*|j'hésite"
        r"|pas encore|plaisant\w*|blague|rigole|haha\w*|mdr|ptdr|lol|il dit|elle dit|il a dit|selon|d'après|paraît"
        "|voilà ce que|le premier|le second|ce fichier|cette fonction|cette ligne|ce test|pour la démo|plus tard"
        r"|bientôt|un jour|expérien\w+|essai\w*|juste pour (?:voir|tester)|je vais (?:voir|réfléchir)|café|bière"
        r"|pizza|licorne|en théorie|curieu\w+|ce serait (?:drôle|bien|cool)|retraite|erreurs?|plante\w*"
        r"|marche (?:pas|plus|bien|maintenant)|fonctionne\w*|passent|lent\w*|cassé\w*|le diff|faute|merci"
        r"|manque\w*|attends|ne change rien|recommande|conseille|comme si"
        r"|\A(?:avant|autrefois)\b(?! (?:de|chaque|tout|d').*)(?!.*maintenant)"
    ),
    asking=(
        r"pourquoi|comment|où|qui|quel\w*|quand|est-ce|qu'est|c'est quoi|tu peux|peux-tu|pourrais|on pourrait"
        "|peut-on|y a|combien|faut-il|que fait|as-tu"
    ),
    taking_back=(
        r"(?:je )?plaisant\w*|c'était une blague|je rigole|laisse tomber|oublie|laisse|finalement non"
        "|non finalement|en fait non|annule|reviens|remets|on revient|ah non|retour arrière|ne retiens pas"
        r"|j'ai changé d'avis|on laisse tomber|pas la peine|trop risqué|c'était pour rire|pas sérieu\w+|abandonne"
        "|non rien|on garde l'ancien"
    ),
    known=(
        "comme (?:je )?(?:d'habitude|toujours|dit|disais|convenu)|je te l'ai (?:déjà )?dit|tu sais bien"
        "|tu le sais|déjà dit|encore une fois|pour rappel|je rappelle|encore un"
    ),
    correcting="non|faux|pas du tout|c'est faux|incorrect|pas exactement|en fait|erreur|stop|mais non",
)

SPANISH: Final = Tongue(
    name="Spanish",
    common=(
        "el|la|los|las|un|una|de|del|y|es|no|que|en|se|lo|por|para|con|al|yo|tú|me|te|ya|sí|si|eso|esto|q|está"
        "|como|pero|hay|nos"
    ),
    lasting=(
        "siempre|nunca|jamás|a partir de (?:ahora|hoy|este)|de ahora en adelante|desde (?:ahora|hoy|este mes|ya)"
        "|en adelante|en el futuro|por (?:norma|regla general|convención|defecto|sistema|principio)"
        r"|sin (?:ninguna )?excepci(?:ón|ones)|cada vez|permanentemente|cada \w+ (?:lleva|tiene|debe|va|es)"
        "|obligatori[oa]s?|prohibid[oa]s?|no se (?:puede|debe|usa|toca|hace|permite|sube|mezcla)|recuerda"
        "|recuerden|acuérdate|acordate|no olvides|apunta|anota|ten en cuenta|toma nota|que conste|regla|norma"
        "|convención|nuestr[oa]s?|en este (?:proyecto|repo|repositorio)|este (?:proyecto|repo|repositorio)"
        "|el equipo (?:decidió|acordó|quiere|usa|prefiere|ha)"
        "|(?:hemos|habíamos|ya) (?:decidido|acordado|quedado|cambiado|migrado|pasado|dejado|elegido)|decidimos"
        "|acordamos|quedamos en|migramos|cambiamos (?:a|de)|dejamos (?:de|atrás)|abandonamos|decidido|acordado"
        "|definitivo|usamos|utilizamos|llamamos|decimos|escribimos|trabajamos|desplegamos|nunca más"
        r"|dej(?:ó|amos) de|prefiero|no quiero|salvo que|a menos que|reemplaz\w+|sustitu\w+"
        r"|desde (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|la v?\d)"
        "|de una vez por todas|hasta nuevo aviso|exclusivamente|estrictamente|invariablemente|está prohibido"
        "|no está permitido|se prohíbe|guarda (?:esto|que)|guárdalo|memoriza|quédate con|no te olvides"
        "|que quede claro|queda (?:decidido|claro|acordado)|vamos con|nos quedamos con|optamos por|elegimos"
        r"|escogimos|aprobado|consenso|renombra\w+|retiramos|reemplazamos|sustituimos"
        "|se (?:guarda|almacena|despliega|prueba|genera|escribe|usa|hace|publica)n? (?:en|con|por|desde|siempre|sólo|solo)"
        r"|me gusta más|odio|evita(?:r)?|deja de|sin \w+ (?:no|nunca)|excepto|solamente (?:si|tras|con)"
        "|solo (?:si|tras|después|cuando)|en el equipo|nosotros|acá (?:siempre|usamos)|mudamos|pasamos a"
        "|es (?:la norma|regla|obligatorio|el único|la única)"
        r"|(?:\A|, (?:also |so |dus |więc |então |quindi |donc |así que )?)(?:nada de|sin|ningún|ninguna) (?!problema|prisa|eso|errores|error)\S+ (?:\S+ )?(?:en|con|sin|para|por)"
        "|viene(?:n)? (?:solo|sólo|de)|se acabó|no usamos|(?:ya )?no se usa"
        r"|no (?!sabemos|tenemos|podemos|vemos|entendemos|vamos|estamos|queremos)\w+(?:amos|emos|imos)"
        r"|(?:necesitan?|requieren?|llevan?) (?:dos|tres|al menos|\d|una? )|pregúntame|me preguntes|ya no vale"
        "|no vale|manda (?:el|la|config)|usamos (?:solo|sólo|siempre)"
        r"|ahora (?:es|son|va|usa|vive)n? (?!rojo|verde|mejor)\S+|(?:aquí|acá) (?:es )?todo"
        r"|todo (?:es|va|está) (?:en|con) |nadie (?!sabe|entiende|dijo)\w+"
        "|no se (?:hace|usa|toca|sube|mezcla|permite|escribe|pone)"
        r"|(?:la|los|las|el) \S+ (?:la|lo|los|las) (?:escribimos|hacemos|ponemos|guardamos|usamos)"
        "|para que (?:lo )?sepas|cada (?:noche|día|mañana|semana|mes|lunes|viernes)"
        "|soy (?:daltónic[oa]|disléxic[oa]|zurd[oa])|(?:desde|tras) (?:el incidente|la auditoría|la caída)"
        "|(?:legal|seguridad|el cliente) (?:insiste|exige|requiere|prohíbe)"
    ),
    collective=r"nosotr\w+|nuestr\w+|el equipo|aquí|acá|todos|los clientes|los usuarios|hemos|tenemos|vamos",
    contrast=(
        r"no|ni|sin|sino|en vez|en lugar|nada|nadie|ningun\w*|ningún|pero|(?:nada|ningún|ninguna) (?:de )?"
        r"|nada de \w+|en lugar de|en vez de"
    ),
    appositive=r", no (?:en|a|con|por|el|la|los|las|un|una|de|desde)\b",
    every=(
        r"tod[oa]s?|cada|ambos|ambas|solo|sólo|únic\w+|por|como máximo|máximo|mínimo|cualquier\w*|en todas partes"
        r"|en todos lados|(?:en|para|con|a) tod[oa]s?(?: (?:los|las|el|la|nuestr\w+))?"
        r"|tod[oa]s (?:los|las|nuestr\w+)|(?:en|para|por|antes de|después de) cada|solo (?:se|con|en|por|desde)"
        "|solamente|únicamente"
    ),
    norm=(
        r"deb\w+|hay que|tiene\w* que|va|van|queda\w*|lleva\w*"
        r"|se (?:usa|llama|hace|pone|guarda|escribe|queda|despliega)|corre\w*|deb(?:e|en|emos)(?: de)?"
        "|tiene(?:n)? que|corre(?:n)? (?:en|sobre)|va(?:n)? en|vive(?:n)? en|está(?:n)? en|necesito que"
        "|quiero que"
    ),
    change=r"ahora|nuev[oa]s?|ya|cambi\w+|desde|antes|ya no|no más|eliminado|eliminamos",
    passing=(
        "(?<!desde )(?<!partir de )hoy|esta vez|por (?:ahora|hoy|el momento|esta vez|una vez)|de momento"
        r"|temporal\w*|provisional\w*|mientras tanto|hasta (?:mañana|que|el)|mañana|ayer"
        "|esta (?:noche|tarde|semana)|ahora mismo|un momento|solo (?:hoy|esta|por hoy|ahora)|rápido|una sola vez"
        r"|quizás?|tal vez|podría\w*|imagin\w+|supon\w+|si (?:usáramos|hiciéramos|tuviéramos)|creo que|no sé"
        r"|no estoy segur\w|a lo mejor|hipotétic\w+|habría que ver|veremos|todavía no|broma|bromeo|jaja\w*|jeje\w*"
        "|lol|él dice|dice que|dijo|según|al parecer|pone que|tuit|este (?:archivo|fichero|test)"
        r"|esta (?:función|línea|clase)|para la demo|más tarde|luego|pronto|algún día|experiment\w+|prueba rápida"
        "|solo para (?:ver|probar)|voy a (?:pensar|ver)|café|cerveza|pizza|unicornio|en teoría|curiosidad"
        r"|sería (?:divertido|genial|bueno)|jubil\w+|error(?:es)?|falla\w*|fallan|funciona\w*|pasan|lent[oa]s?"
        "|rot[oa]s?|gracias|falta(?:n)?|los cambios antes|me pregunto|dicen|espera|recomienda|recomiendan|sugiere"
        r"|como si|\Aantes\b(?! de)(?!.*ahora)"
    ),
    asking=(
        r"qué|que es|por qué|cómo|dónde|quién|cuál\w*|cuándo|puedes|podemos|podrías|debería\w*|hay algun\w*"
        r"|es posible|sabes|tenemos que|¿|q es|cuánt\w+"
    ),
    taking_back=(
        "(?:era |es )?broma|bromeaba|olvídalo|olvidalo|déjalo|dejalo|mejor no|al final no|no,? espera|espera,? no"
        "|revierte|reviértelo|deshaz|vuelve (?:a|atrás)|cancela|no lo guardes|cambié de (?:idea|opinión)"
        "|como estaba|descártalo|no vale la pena|demasiado arriesgado|era en broma|no hablaba en serio|aborta"
        "|nada, olvida|volvemos a"
    ),
    known=(
        "como (?:siempre|dije|ya|te dije|quedamos)|ya (?:lo )?sabes|ya te (?:lo )?(?:dije|he dicho)|otra vez"
        "|te recuerdo|de nuevo|ya lo hablamos"
    ),
    correcting="no|mal|falso|eso no|incorrecto|no exactamente|corrección|en realidad|para|así no|ya,? eso pensé",
)

PORTUGUESE: Final = Tongue(
    name="Portuguese",
    common=(
        "o|a|os|as|um|uma|de|do|da|e|é|não|que|em|no|na|por|para|com|se|eu|você|me|já|sim|isso|isto|pra|tá|está"
        "|como|mas|tem|dos|das|ao"
    ),
    lasting=(
        "sempre|nunca|jamais|(?:daqui|de agora) (?:pra|para|em) (?:frente|diante)|a partir de (?:agora|hoje|já)"
        "|doravante|no futuro|por (?:regra|padrão|convenção|princípio)|via de regra|em geral|sem exceç(?:ão|ões)"
        r"|toda vez|permanentemente|tod[oa] \w+ (?:\w+ ){0,4}(?:tem|leva|deve|precisa|entra|vai|é|passa)"
        r"|cada \w+ (?:tem|leva|deve|fica|é)|obrigatóri[oa]s?|proibid[oa]s?|não (?:pode|se|é permitido)"
        r"|lembr(?:a|e|em|ar)|não esqueç\w+|anot(?:a|e)|guarda (?:isso|aí)|grava (?:isso|aí)"
        "|fica (?:combinado|decidido|registrado)|regra|convenção|padrão|noss[oa]s?|aqui a gente"
        "|neste (?:projeto|repo|repositório)|nesse (?:projeto|repo|repositório)|no (?:projeto|repo|repositório)"
        "|este projeto|o time (?:decidiu|quer|usa|prefere|fechou|combinou)"
        "|(?:decidimos|combinamos|fechamos|definimos|mudamos|migramos|trocamos|escolhemos|adotamos|abandonamos|saímos|largamos|paramos de|acordamos)"
        "|decidido|combinado|definitivo|decisão"
        "|(?:a gente|nós) (?:usa|usamos|chama|chamamos|escreve|faz|fala|decidiu|mudou|trocou|migrou)|usamos"
        r"|chamamos|nunca mais|prefiro|não quero|a não ser|a menos que|substitu\w+"
        r"|desde (?:janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro|a v?\d)"
        "|de uma vez por todas|até segunda ordem|exclusivamente|estritamente|é proibido|não é permitido"
        "|guarda (?:que|isso)|memoriza|não esquece|fica claro|ficou (?:decidido|combinado|acertado)"
        r"|vamos (?:com|de|ficar com)|ficamos com|optamos por|escolhemos|aprovado|consenso|renome\w+|removemos"
        "|aposentamos|substituímos|vive(?:m)? em|fica(?:m)? (?:em|no|na|dentro)"
        "|(?:é|são) (?:guardad|salv|gerad|testad|publicad|feit|escrit)[oa]s?|eu prefiro|evita(?:r)?|para de"
        r"|sem \w+ (?:não|nunca)|exceto|só (?:se|quando|depois)|no nosso|na nossa|nossa equipe"
        "|é (?:regra|obrigatório|o único|a única)|passou (?:a|pra|para)|passamos (?:a|pra|para)"
        r"|(?:\A|, (?:also |so |dus |więc |então |quindi |donc |así que )?)(?:nada de|sem|nenhum|nenhuma) (?!problema|pressa|isso|erro|erros)\S+ (?:\S+ )?(?:em|no|na|nos|nas|com|para)"
        "|saiu|não usamos|não se usa"
        r"|não (?!sabemos|temos|podemos|vemos|entendemos|vamos|estamos|queremos)\w+(?:amos|emos|imos)"
        r"|precisa(?:m)? de (?:dois|duas|três|pelo menos|\d|uma? )|me pergunt\w+ (?:\S+ )?antes|morreu"
        r"|não vale mais|vale (?:a|o) \S+|só usamos|usamos só|a gente não \w+"
        r"|agora (?:é|são|fica|usa|vai) (?!vermelho|verde|melhor)\S+|mudou:|mudamos|aqui (?:é )?tudo"
        r"|tudo (?:é|fica|vai) (?:em|com|no|na) |ninguém (?!sabe|entende|disse)\w+|(?:só )?pra você saber"
        "|para sua informação|toda (?:noite|semana|segunda|sexta)|todo (?:dia|mês)"
        r"|sou (?:daltônic[oa]|disléxic[oa]|canhot[oa])|(?:desde|depois d)o incidente|para de \w+ar"
        "|(?:o jurídico|a segurança|o cliente) (?:insiste|exige|proíbe)"
    ),
    collective=r"nós|a gente|noss\w+|o time|a equipe|aqui|todos|os clientes|os usuários",
    contrast=r"não|nem|sem|em vez|mas|nada|ninguém|nenhum\w*|nada de|nada de \w+|em vez de|no lugar de",
    appositive=r", não (?:em|no|na|com|por|o|a|os|as|um|uma|de|do|da)\b",
    every=(
        "tod[oa]s?|cada|ambos|ambas|só|apenas|somente|por|no máximo|máximo|mínimo|qualquer"
        r"|em tod[oa]s? (?:os|as|o|a|lugar)?|em todo lugar|(?:para|pra|com) tod[oa]s?|tod[oa]s (?:os|as|noss\w+)"
        "|(?:em|para|por|antes de|depois de) cada|só (?:com|em|no|na|por|via|pelo|pela|depois|o|a)"
    ),
    norm=(
        r"dev\w+|tem que|precisa\w*|vai|vão|fica\w*|leva\w*|se (?:usa|chama|faz)|roda\w*|é feito|dev(?:e|em|emos)"
        "|têm que|precisa(?:m)? (?:ser|ter|de)|roda(?:m)? (?:em|no|na|sobre)|mora(?:m)? em|vai (?:em|no|na|para)"
        "|vão (?:em|no|na|para)|quero que"
    ),
    change=r"agora|nov[oa]s?|já|mud\w+|desde|antes|não (?:\w+ )?mais|mudou|trocad[oa]",
    passing=(
        r"(?<!partir de )hoje|desta vez|dessa vez|por (?:enquanto|hoje|ora|agora)|temporari\w*|provisori\w*"
        r"|provisóri\w*|enquanto (?:isso|não)|até (?:amanhã|que|o|a)|amanhã|ontem|esta (?:noite|semana)"
        r"|agora mesmo|só (?:hoje|dessa vez|desta vez|agora|uma vez)|rapidinho|uma vez só|talvez|poderia\w*"
        r"|imagin\w+|supon\w+|se a gente|acho que|não sei|não tenho certeza|hipotétic\w+|vamos ver|ainda não"
        r"|se o cliente|brincadeira|brincando|zoeira|zuando|kkk\w*|haha\w*|rsrs\w*|lol|ele disse|diz que|disse que"
        "|segundo|parece que|este (?:arquivo|teste)|esse (?:arquivo|teste)|esta (?:função|linha)"
        r"|essa (?:função|linha)|para a demo|pra demo|mais tarde|depois a gente|logo mais|um dia|experiment\w+"
        "|só para (?:ver|testar)|vou (?:pensar|ver)|café|cerveja|pizza|unicórnio|em teoria|curiosidade"
        r"|seria (?:legal|engraçado|bom)|aposent\w+|pescador|erros?|falh\w+|funciona\w*|passaram|lent[oa]s?"
        r"|quebr\w+|valeu|obrigad[oa]|falta(?:m)?|me pergunto|espera|recomenda|recomendam|sugere|como se"
        r"|\Aantes\b(?! de)(?!.*agora)"
    ),
    asking=(
        r"o que|por que|porque|como|onde|quem|qual|quais|quando|pode|podemos|poderia|deveria\w*|tem como|será"
        r"|dá pra|cadê|quant\w+"
    ),
    taking_back=(
        "(?:era |é |foi |tô )?(?:brincadeira|brincando|zoeira)|zuei|esquece|deixa (?:pra lá|quieto)|melhor não"
        "|pensando bem|não,? espera|espera,? não|reverte|desfaz|volta (?:atrás|pro|para o|ao)|cancela|não guarda"
        "|mudei de ideia|como estava|não vale a pena|arriscado demais|tô zoando|não é sério|aborta|voltamos ao"
    ),
    known=(
        "como (?:sempre|eu disse|falei|combinado|já)|você (?:já )?sabe|já (?:te )?(?:disse|falei)|de novo"
        "|outra vez|lembrando que|só lembrando"
    ),
    correcting="não|errado|tá errado|incorreto|não exatamente|correção|na verdade|para|assim não",
)

ITALIAN: Final = Tongue(
    name="Italian",
    common=(
        "il|lo|la|i|gli|le|un|una|di|del|della|e|è|non|che|in|si|per|con|a|al|da|io|tu|mi|ti|ci|sì|no|questo"
        "|questa|come|ma|sono|nn|x|cn|ho|hai|dei|delle|nel|qui|qua|anche|nella|alla|dal|noi"
    ),
    lasting=(
        "sempre|mai|d'ora in (?:poi|avanti)|da (?:ora|oggi|adesso)(?: in (?:poi|avanti))?|in futuro"
        "|di (?:norma|regola|default)|in genere|per (?:convenzione|principio|regola)|senza eccezioni|ogni volta"
        r"|ogni \w+ (?:ha|deve|va|è|riceve|porta)|obbligatori[oae]?|vietat[oaie]|non si (?:può|deve|usa|tocca|fa)"
        r"|ricorda\w*|tieni (?:a mente|presente|conto)|non dimenticare|segnati|annota|prendi nota|regola"
        "|nuova regola|convenzione|da noi|nostr[oaie]|in questo (?:progetto|repo|repository)"
        "|questo (?:progetto|repo)|il team (?:ha|vuole|usa|preferisce)"
        r"|abbiamo (?:\w+ )?(?:deciso|scelto|concordato|stabilito|cambiato|migrato|abbandonato|sostituito|lasciato|tolto|adottato)"
        "|siamo (?:passati|migrati)|deciso|definitivo|decisione|usiamo|chiamiamo|diciamo|scriviamo|teniamo"
        "|facciamo (?:sempre|così)|mai più|esclusivamente|unicamente|preferisco|non voglio|a meno che|tranne"
        r"|sostituit\w+"
        "|da (?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre|quando)"
        "|non c'è più|non ci sono più|una volta per tutte|fino a nuovo ordine|rigorosamente|è vietato"
        "|non è permesso|memorizza|salva (?:che|questo)|tieni conto|resta (?:deciso|inteso)|andiamo (?:con|su)"
        r"|restiamo (?:con|su)|optiamo|approvato|d'accordo con il team|rinomin\w+|dismess\w+|vive in|finisc\w+ in"
        "|(?:è|sono) (?:salvat|scritt|generat|testat|pubblicat|gestit)[oaie]"
        "|si (?:usa|fa|salva|scrive|mette|testa|pubblica|chiama) (?:sempre|solo|in|con|su)|odio|evita(?:re)?"
        "|smetti di|eccetto|solo (?:se|dopo|quando|con|tramite)|nel nostro|nella nostra"
        r"|è (?:la regola|obbligatorio|l'unic\w+)|portiamo|passiamo (?:a|ad)|portiamol\w+"
        r"|(?:\A|, (?:also |so |dus |więc |então |quindi |donc |así que )?)(?:niente|nessun\w*) (?!problema|panico|di che|fretta|errore|errori|idea)\S+ (?:\S+ )?(?:in|nei|nelle|nel|nella|con|senza|per)"
        r"|non si usa più|non usiamo|non si (?!capisce|vede|sa|riesce)\w+"
        r"|non (?!sappiamo|abbiamo|possiamo|vediamo|capiamo|siamo|vogliamo)\w+iamo"
        r"|richied(?:e|ono) (?:due|tre|almeno|\d|una? )|chiedimi (?:\S+ )?prima|è mort[oa]|non vale più"
        "|vale (?:config|il|la)|usiamo solo|abbiamo scelto"
        r"|(?:ora|adesso) (?:è|sono|usa|va) (?!rosso|verde|meglio)\S+|(?:qui|qua) (?:è )?tutto"
        r"|tutto (?:è|va|sta) (?:in|su|con) |nessuno (?!sa|capisce|ha)\w+|per (?:tua|vostra) info\w*"
        "|ogni (?:notte|giorno|mattina|settimana|mese|lunedì|venerdì)"
        "|sono (?:daltonic[oa]|dislessic[oa]|mancin[oa])|(?:dopo|da)l?l'incidente|smettila di"
        "|(?:il legale|la sicurezza|il cliente) (?:insiste|esige|vieta)"
    ),
    collective=r"noi|nostr\w+|il team|la squadra|qui|qua|tutti|i clienti|gli utenti|abbiamo|usiamo",
    contrast=r"non|nn|né|senza|invece|ma|niente|nessun\w*|nulla|niente \w+|al posto di|invece di|basta \w+",
    appositive=r", non (?:in|nel|nella|con|per|il|la|i|le|un|una|di|da)\b",
    every=(
        "tutt[oiea]|ogni|entramb[ie]|solo|soltanto|per|al massimo|massimo|minimo|qualsiasi|qualunque|ovunque"
        "|dappertutto|dovunque|per tutt[iaeo]|in tutt[iaeo]|tutt[ie] (?:i|gli|le|nostri|nostre)"
        "|(?:per|in|a|prima di|dopo) ogni"
    ),
    norm=(
        r"dev\w+|bisogna|va|vanno|resta\w*|sta|stanno|si (?:usa|chiama|fa|mette|salva|scrive)|gira\w*|dev(?:e|ono)"
        r"|va (?:sempre|fatt\w+|usat\w+)|voglio che|vorrei che|gira(?:no)? (?:su|in|ora)"
        "|sta(?:nno)? (?:in|su|nella|nel)"
    ),
    change=r"ora|adesso|nuov[oaie]|ormai|cambi\w+|da quando|prima|non \S+ più|tolto|rimoss\w+",
    passing=(
        r"(?<!da )oggi|stavolta|questa volta|per (?:ora|adesso|il momento|questa volta|oggi)|temporane\w*"
        r"|provvisori\w*|nel frattempo|finché|fino a (?:domani|quando)|domani|ieri|stasera"
        "|solo (?:oggi|stavolta|per oggi|ora)|un attimo|al momento|una volta sola|velocemente|forse|magari"
        r"|potremmo|potrebbe\w*|immagina\w*|supponi\w*|se (?:usassimo|facessimo)|credo|penso che|non so"
        r"|non sono sicur\w|ipotetic\w+|vediamo|chissà|non ancora|scherz\w+|battuta|ahah\w*|haha\w*|lol|lui dice"
        "|dice che|ha detto|secondo|pare che|c'è scritto|altro progetto|questo (?:file|test)"
        r"|questa (?:funzione|riga|classe)|c'entriamo|per la demo|più tardi|dopo|presto|un giorno|esperiment\w+"
        "|prova veloce|solo per (?:vedere|provare)|ci penso|caffè|birra|pizza|unicorno|in teoria|curiosità"
        r"|sarebbe (?:bello|divertente)|pensione|errori?|fallisc\w+|funziona\w*|passano|lent[oaie]|rott[oaie]"
        "|grazie|manca(?:no)?|mi chiedo|aspetta|consiglia|consigliano|suggerisce|come se"
        r"|\A(?:prima|una volta)\b(?! di)(?!.*(?:ora|adesso))"
    ),
    asking=(
        "cosa|che cosa|perché|come|dove|chi|quale|quali|quando|puoi|possiamo|potresti|dovremmo|c'è|hai|sai"
        r"|quant\w+|si può"
    ),
    taking_back=(
        r"(?:stavo )?scherz\w+|era uno scherzo|lascia (?:perdere|stare)|dimentica\w*|anzi no|no,? aspetta"
        r"|aspetta,? no|meglio di no|torna\w* (?:a|com|indietro)|annulla|ripristina|come prima|ci ho ripensato"
        "|ho cambiato idea|non salvarlo|non vale la pena|troppo rischioso|era per ridere|non sul serio|torniamo a"
    ),
    known=(
        "come (?:sempre|dicevo|già|detto|al solito)|lo sai(?: già)?|te l'ho (?:già )?detto|di nuovo"
        "|ancora una volta|ti ricordo|già detto"
    ),
    correcting="no|sbagliato|falso|non è così|non proprio|correzione|in realtà|ferma|così no",
)
