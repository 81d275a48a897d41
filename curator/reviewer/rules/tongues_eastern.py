"""Words by which a language says that something holds for good, or only for now: Polish, Turkish, Russian, and others."""

from __future__ import annotations

from typing import Final

from curator.reviewer.rules.tongue import Tongue

POLISH: Final = Tongue(
    name="Polish",
    common="i|w|na|nie|to|jest|się|z|do|że|jak|po|ale|czy|mi|ja|ty|my|co|tak|o|za|dla|od|jeszcze|tylko|są|już|ten|ta|te",
    lasting=(
        r"zawsze|nigdy|od (?:teraz|dziś|dzisiaj|dzis|tej pory)|odtąd|na przyszłość|w przyszłości|co do zasady|z zasady|z reguły|domyślnie|bez wyjątk\w+|za każdym razem|wszędzie|na stałe|(?:we|dla|do|w|na|przy) (?:wszystkich|wszystkie|każd\w+)|każd[yaeo]\w* \S+ (?:ma|musi|dostaje|powin\w+|jest)|obowiązkow\w+|obowiązuje|wymagan\w+|zabronion\w+|zakaz|musi|muszą|nie wolno|nie można|trzeba"
        r"|pamiętaj\w*|zapamiętaj\w*|zapisz (?:sobie|że)|zanotuj|zasada|nowa zasada|reguła|konwencja|u nas|nasz\w*|w tym (?:projekcie|repo|repozytorium)|ten projekt|zespół (?:zdecydował|ustalił|chce|używa|woli)|ustaliliśmy|zdecydowaliśmy|postanowiliśmy|umówiliśmy się|przeszliśmy|przechodzimy|zmieniliśmy|porzuciliśmy|zrezygnowaliśmy|wybraliśmy|zdecydowane|ustalone|decyzja|używamy|nazywamy|mówimy|piszemy|trzymamy|robimy|wdrażamy|testujemy|budujemy"
        r"|tylko (?:przez|z|w|na|po|za|do)|wyłącznie|już nie|nie \S+ już|żadn\w+|zamiast|zastąpi\w+|chcę(?:,)? żeby|wolę|nie chcę|chyba że|od (?:stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia|v?\d)"
    ),
    collective=r"my|nas|nam|nasz\w*|zespół|tutaj|wszyscy|klienci|użytkownicy",
    contrast=r"nie|bez|zamiast|ale|a nie|ani|nic|nikt|żad\w+",
    every=r"wszystk\w+|każd\w+|oba|obie|tylko|na|po|maksymalnie|najwyżej|co najmniej",
    norm=r"ma|mają|musi\w*|powin\w+|trzeba|zostaje\w*|idzie|leży|proszę|nazywa się|działa",
    change=r"teraz|now[yaei]\w*|już|zmien\w+|od",
    passing=(
        r"(?<!od )dzi(?:ś|s|siaj)|tym razem|na razie|chwilowo|tymczasow\w*|do jutra|jutro|wczoraj|wyjątkowo|jednorazow\w*|ten jeden raz|tylko (?:teraz|dziś|raz|tutaj)|w tej chwili|szybko|może|chyba (?!że)|mógłb\w*|moglib\w*|załóżmy|wyobraź|myślę|nie wiem|nie jestem pew\w+|hipotetycz\w+|zobaczymy|jeszcze nie"
        r"|żart\w*|haha\w*|lol|on mówi|powiedział\w*|według|podobno|piszą|ten (?:plik|test)|ta funkcja|tę funkcję|tamten"
    ),
    asking=r"co|czemu|dlaczego|jak|gdzie|kto|któr\w+|kiedy|czy|możesz|możemy|ile",
    taking_back=r"żart(?:owałem|owałam|uję)?|zapomnij|nieważne|jednak nie|cofnij|wycofaj|wróć|lepiej nie|zostaw(?:my)?|anuluj|czekaj,? nie|nie zapisuj|rozmyśliłem|rozmyśliłam|po staremu",
    known=r"jak (?:zawsze|mówiłem|mówiłam|zwykle|ustaliliśmy)|przecież (?:wiesz|mówi\w+)|już (?:ci )?mówił\w+|znowu|przypominam|wiesz przecież",
    correcting=r"nie|źle|błąd|nieprawda|nie do końca|poprawka|właściwie|stop",
)

TURKISH: Final = Tongue(
    name="Turkish",
    common="ve|bir|bu|şu|o|de|da|mi|mı|mu|mü|ne|için|ile|var|yok|ama|değil|degil|çok|cok|ben|sen|biz|evet|hayır|hayir|ya|olsun|gibi|daha|ki",
    lasting=(
        r"her zaman|hep|daima|asla|hiçbir zaman|hicbir zaman|bundan (?:sonra|böyle|boyle)|artık|artik|gelecekte|kural olarak|genel olarak|varsayılan olarak|istisnasız|istisnasiz|her seferinde|her yerde|kalıcı olarak|bütün \S+|tüm \S+|tum \S+|her \S+ (?:için|icin|önce|once|sonra)|zorunlu|şart|mecburi|yasak|olmalı|olmali|\S+(?:malı|meli)(?:yız|yiz|dır|dir)?|gerekiyor|lazım|lazim"
        r"|unutma\w*|hatırla|aklında (?:tut|olsun)|not (?:et|al)|kural\w*|yeni kural|bizde|bizim|bu projede|bu depoda|bu repoda|ekip(?:çe|le|te|ler)?|takım\w*|karar (?:verdik|aldık|verildi)|kararlaştırdık|anlaştık|seçtik|geçtik|gectik|bıraktık|biraktik|değiştirdik|taşıdık|karar\w*|kesinleşti|kullanıyoruz|kullaniyoruz|diyoruz|yazıyoruz|yapıyoruz|tutuyoruz|kullanmıyoruz|kullanmiyoruz|yalnızca|yalnizca|sadece|kaldırdık|kalktı|kaldırıldı|yerine|istiyorum|istemiyorum|tercih (?:ediyorum|ederim)|sürece|olmadıkça|her yeni"
    ),
    collective=r"biz\w*|ekip\w*|takım\w*|burada|herkes|müşteri\w*|kullanıcı\w*",
    contrast=r"değil|degil|yok|ama|yerine|\S+m[ae]yın?|olmadan|hiç|hicbir|hiçbir",
    every=r"bütün|tüm|tum|her|hepsi|ikisi|sadece|yalnız\w*|en fazla|en az",
    norm=r"olacak|olsun|lazım|lazim|gerek\w*|lütfen|lutfen|kalsın|kalacak|gidecek|\S+(?:malı|meli)\S*|yazılacak|yapılacak",
    change=r"artık|artik|şimdi|yeni\w*|değişti|degisti|geçtik|gectik",
    passing=(
        r"bugün\w*|bugun\w*|bu (?:sefer|seferlik|kez|kerelik|akşam|hafta)|şimdilik|simdilik|geçici\w*|gecici\w*|yarın\w*|yarin\w*|dün|bir kereliğine|bir kere|şu an\w*|su an\w*|hemen|belki|acaba|\S+(?:abilir|ebilir)\S*|varsayalım|diyelim|sanırım|sanirim|emin değilim|bilmiyorum|galiba|bakalım|henüz"
        r"|şaka\w*|saka\w*|haha\w*|lol|dedi|diyor\w*|göre|güya|bu (?:dosya|fonksiyon|satır|test)\w*"
    ),
    asking=r"ne|neden|niye|nasıl|nasil|nerede|kim|hangi|kaç|kac",
    taking_back=r"şaka\w*|saka\w*|boş ?ver|bosver|vazgeç\w*|vazgec\w*|unut (?:gitsin|bunu)|geri al\w*|eski haline|iptal|dur,? hayır|yok,? dur|kaydetme|fikrimi değiştirdim|olmadı|gerek yok|kalsın böyle",
    known=r"dediğim gibi|her zamanki gibi|biliyorsun|söylemiştim|demiştim|yine|tekrar|hatırlatayım|zaten",
    correcting=r"hayır|hayir|yok|yanlış|yanlis|öyle değil|tam değil|düzeltme|aslında|dur",
)

RUSSIAN: Final = Tongue(
    name="Russian",
    common="и|в|на|не|что|это|с|по|как|а|но|у|мы|ты|я|он|она|для|из|к|за|же|да|нет|так|там|тут|все|от|то|бы|ли",
    lasting=(
        r"всегда|никогда|(?:с|от) (?:этого момента|сегодняшнего дня|сегодня|этого дня)|отныне|впредь|теперь|в будущем|на будущее|как правило|по умолчанию|без исключени\w+|каждый раз|везде|повсюду|навсегда|(?:для|во|на|в|у|к|при|ко) все(?:х|м|ми|й|ю)|все \S+ (?:должны|идут|лежат|пишем|храним)|кажд\w+ \S+ (?:должен|должна|должно|имеет|получает|идет|идёт)|(?:для|в|на|к|перед|после|при) кажд\w+|обязательн\w+|обязан\w*|запрещен\w*|запрещён\w*|нельзя|должн\w+|нужно|надо|только (?:через|по|из|в|на|с|после)|исключительно"
        r"|запомн\w+|помни\w*|не забудь\w*|не забывай\w*|учти\w*|запиши|имей в виду|правил[оа]|новое правило|соглашени\w+|у нас|наш\w*|в (?:этом|нашем) (?:проекте|репозитории|репе)|этот проект|команда (?:решила|договорилась|хочет|использует)|решили|договорились|условились|перешли|переходим|переехали|отказались|сменили|заменили|выбрали|убрали|решено|договорено|окончательно|решение|используем|называем|пишем|говорим|храним|держим|делаем|деплоим|мержим|катим|тестируем"
        r"|больше не|не \S+ больше|никаких|никакого|вместо|хочу,? чтобы|предпочитаю|не хочу|если не (?:скажу|прошу)|пока не скажу|с (?:января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря|прошл\w+|v?\d)"
    ),
    collective=r"мы|нас|нам|наш\w*|команд\w+|здесь|тут|клиент\w+|пользовател\w+|все",
    contrast=r"не|нет|без|вместо|а не|ни|ничего|никто|никак\w+",
    every=r"вс[её]|всех|всем|кажд\w+|оба|обе|только|по|максимум|минимум|не больше|не меньше|люб\w+",
    norm=r"должн\w+|нужно|надо|пусть|остаётся|остается|лежит|лежат|идет|идёт|пожалуйста|называется|работает|хранится|стро\w+",
    change=r"теперь|нов\w+|уже|изменил\w+|сменил\w+|раньше",
    passing=(
        r"(?<!с )сегодня|в этот раз|на этот раз|пока (?!не скажу)|временно|до завтра|до понедельника|завтра|вчера|один раз|разово|только (?:сейчас|сегодня|тут|здесь|раз)|прямо сейчас|сейчас|быстро|может(?: быть)?|возможно|наверное|мог\w* бы|можно было|допустим|представь|думаю|кажется|не знаю|не уверен\w*|гипотетическ\w+|посмотрим|ещё не|еще не|если (?:бы|мы)|лес"
        r"|шуч\w+|шутк\w+|хаха\w*|ахах\w*|лол|он сказал|говорит|сказали|согласно|якобы|пишут|написано|этот (?:файл|тест)|эту (?:функцию|строку)|в логе"
    ),
    asking=r"что|почему|зачем|как|где|кто|какой|какая|какие|какое|когда|можешь|можно ли|сколько|откуда|чем|а если|нельзя ли|стоит ли",
    taking_back=r"шуч\w+|шутка|пошутил\w*|забудь|забей|отмена|отменяется|отмени|верни|откати|не надо|передумал\w*|лучше не|оставь как|оставим как|стоп,? нет|не запоминай|нет,? подожди|всё обратно",
    known=r"как (?:я )?(?:говорил\w*|всегда|обычно|договаривались|сказал\w*)|ты (?:же )?знаешь|уже говорил\w*|опять|снова|напоминаю|я же говорил\w*",
    correcting=r"нет|неверно|неправильно|не так|не совсем|ошибка|исправление|на самом деле|стоп|не то",
)

ARABIC: Final = Tongue(
    name="Arabic",
    common="في|من|على|إلى|هذا|هذه|لا|ما|هل|نعم|أن|مع|عن|كل|هو|هي|لكن|أو|ثم|يا|قد|كان|لم|ال",
    lasting=(
        r"دائما|دائمًا|دوما|أبدا|أبدًا|من الآن فصاعدا|من الآن|بعد الآن|من اليوم|مستقبلا|في المستقبل|كقاعدة|بشكل عام|افتراضيا|بدون استثناء|بلا استثناء|في كل مرة|كل مرة|في كل مكان|لجميع|لكل|في جميع|في كل|جميع ال|كل ال|إلزامي\S*|إجباري\S*|ممنوع\S*|يجب|لا يجوز|يمنع|تذكر|تذكّر|احفظ|لا تنس\S*|سجل|سجّل|قاعدة|قاعدتنا|عندنا|لدينا|في (?:هذا )?المشروع|الفريق|اتفقنا|قررنا|انتقلنا|تخلينا|استبدلنا|غيرنا|غيّرنا|اخترنا|تركنا|أصبح\S*|صار\S*|قرار|نهائي\S*|نستخدم|نسمي|نكتب|نستعمل|لم نعد|لا نستخدم|فقط|حصرا|حصريا|بدلا من|بدل|أفضل أن|أريد أن|أريدك|لا أريد|إلا إذا|ما لم"
    ),
    collective=r"نحن|لنا|عندنا|لدينا|الفريق|هنا|الجميع|العملاء|المستخدم\S*|ن\S+ون",
    contrast=r"لا|ليس\S*|بدون|بدل\S*|لكن|غير|وليس|لم",
    every=r"كل|جميع|كلا|فقط|أي|لكل|الحد",
    norm=r"يجب|ينبغي|لازم|يبقى|تبقى|يكون|تكون|من فضلك|رجاء",
    change=r"الآن|جديد\S*|أصبح\S*|صار\S*|تغير\S*",
    passing=r"(?<!من )اليوم|هذه المرة|مؤقت\S*|حاليا|حاليًا|الآن فقط|غدا|غدًا|أمس|حتى الغد|مرة واحدة|ربما|قد يكون|لنفترض|تخيل|أظن|أعتقد|لا أعرف|لست متأكد\S*|افتراضي|سنرى|بعد قليل|أمزح|مزحة|هههه*|قال|يقول|حسب|وفقا|مكتوب|هذا الملف",
    asking=r"ما|ماذا|لماذا|كيف|أين|من هو|أي|متى|هل|كم|لم لا",
    taking_back=r"أمزح|كنت أمزح|مزحة|انس (?:الأمر|ذلك)|انسى|لا داعي|تراجع|ألغ\S*|إلغاء|أعد\S* كما|كما كان|غيرت رأيي|لا تحفظ|الأفضل لا|لا، انتظر",
    known=r"كما (?:قلت|تعلم|تعرف|اتفقنا|قلنا)|كالعادة|قلت لك|مرة أخرى|أذكرك|تذكير",
    correcting=r"لا|خطأ|غير صحيح|ليس هكذا|تصحيح|في الحقيقة|توقف",
)
