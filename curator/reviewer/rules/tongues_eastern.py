"""Words by which a language says that something holds for good, or only for now: Polish, Turkish, Russian, and others."""

from __future__ import annotations

from typing import Final

from curator.reviewer.rules.tongue import Tongue

POLISH: Final = Tongue(
    name="Polish",
    common=(
        "i|w|na|nie|to|jest|się|z|do|że|jak|po|ale|czy|mi|ja|ty|my|co|tak|o|za|dla|od|jeszcze|tylko|są|już|ten|ta|te"
    ),
    lasting=(
        "zawsze|nigdy|od (?:teraz|dziś|dzisiaj|dzis|tej pory)|odtąd|na przyszłość|w przyszłości|co do zasady"
        r"|z zasady|z reguły|domyślnie|bez wyjątk\w+|za każdym razem|na stałe|obowiązkow\w+|obowiązuje|wymagan\w+"
        r"|zabronion\w+|zakaz|nie wolno|nie można|pamiętaj\w*|zapamiętaj\w*|zapisz (?:sobie|że)|zanotuj|zasada"
        r"|nowa zasada|reguła|konwencja|u nas|nasz\w*|w tym (?:projekcie|repo|repozytorium)|ten projekt"
        "|zespół (?:zdecydował|ustalił|chce|używa|woli)|ustaliliśmy|zdecydowaliśmy|postanowiliśmy|umówiliśmy się"
        "|przeszliśmy|przechodzimy|zmieniliśmy|porzuciliśmy|zrezygnowaliśmy|wybraliśmy|zdecydowane|ustalone"
        "|decyzja|używamy|nazywamy|mówimy|piszemy|trzymamy|robimy|wdrażamy|testujemy|budujemy|wyłącznie"
        r"|zastąpi\w+|nie chcę|chyba że"
        r"|od (?:stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia|v?\d)"
        "|raz na zawsze|do odwołania|ściśle|konsekwentnie|wolno tylko|nie dopuszczamy|miej na uwadze"
        "|weź pod uwagę|przyjęliśmy|przyjmujemy|zostajemy przy|idziemy w|bierzemy|stawiamy na|zatwierdzone"
        r"|konsensus|przemianowa\w+|usunęliśmy|wycofaliśmy|zastępuje"
        r"|jest (?:zapisywan|przechowywan|generowan|budowan|testowan)\w+"
        r"|są (?:zapisywan|przechowywan|generowan|budowan|testowan)\w+|nie lubię|nienawidzę|potrzebuję,? żeby"
        r"|unikaj|przestań|z wyjątkiem|oprócz|tylko (?:jeśli|gdy|jak|te|ci)|w naszym|w zespole|jest obowiązkow\w+"
        "|to (?:zasada|reguła|standard)"
        r"|(?:\A|, (?:also |so |dus |więc |então |quindi |donc |así que )?)żadn\w+ (?!problem\w*|błęd\w+|zmian)\S+ (?:\S+ )?(?:w|na|bez|z|do)"
        "|wolę|nie używamy|zdecydowaliśmy się"
        r"|nie (?!wiemy|mamy|możemy|widzimy|rozumiemy|chcemy)\w+(?:amy|emy|imy|ymy)"
        r"|wymaga(?:ją)? (?:dwóch|trzech|co najmniej|\d|\w+ej|\w+ego)|pytaj mnie"
        r"|zapytaj mnie (?:\S+ )?(?:przed|zanim)|nie obowiązuje|ważn\w+ jest|bierzemy tylko"
        r"|teraz (?:jest|są|mamy) (?!dobrze|lepiej)\S+|wszystko (?:jest|mamy|idzie) (?:w|na|przez) "
        r"|nikt nie (?!wie|rozumie)\w+|dla twojej (?:wiadomości|informacji)|co (?:noc|dzień|tydzień|miesiąc)"
        "|codziennie|jestem (?:daltonistą|daltonistką|dyslektykiem)|po (?:incydencie|audycie|awarii)"
        "|(?:prawny|bezpieczeństwo|klient) (?:nalega|wymaga|zabrania)"
    ),
    collective=r"my|nas|nam|nasz\w*|zespół|tutaj|wszyscy|klienci|użytkownicy",
    contrast=r"nie|bez|zamiast|ale|a nie|ani|nic|nikt|żad\w+|żadn\w+|żadnych",
    appositive=r", (?:a )?nie (?:w|na|z|do|jako|przez|\w+em|\w+ami)\b",
    every=(
        r"wszystk\w+|każd\w+|oba|obie|tylko|na|po|maksymalnie|najwyżej|co najmniej|wszędzie"
        r"|(?:we|dla|do|w|na|przy) (?:wszystkich|wszystkie|każd\w+)"
        r"|każd[yaeo]\w* \S+ (?:ma|musi|dostaje|powin\w+|jest)|tylko (?:przez|z|w|na|po|za|do)"
    ),
    norm=(
        r"ma|mają|musi\w*|powin\w+|trzeba|zostaje\w*|idzie|leży|nazywa się|działa|musi|muszą|działa na|działają na"
        "|leży w|leżą w|trafia do|trafiają do|chcę(?:,)? żeby|wolę|lubię"
    ),
    change=r"teraz|now[yaei]\w*|już|zmien\w+|od|już nie|nie \S+ już",
    passing=(
        r"(?<!od )dzi(?:ś|s|siaj)|tym razem|na razie|chwilowo|tymczasow\w*|do jutra|jutro|wczoraj|wyjątkowo"
        r"|jednorazow\w*|ten jeden raz|tylko (?:teraz|dziś|raz|tutaj)|w tej chwili|szybko|może|chyba (?!że)"
        r"|mógłb\w*|moglib\w*|załóżmy|wyobraź|myślę|nie wiem|nie jestem pew\w+|hipotetycz\w+|zobaczymy|jeszcze nie"
        r"|żart\w*|haha\w*|lol|on mówi|powiedział\w*|według|podobno|piszą|ten (?:plik|test)|ta funkcja|tę funkcję"
        r"|tamten|na demo|później|potem|wkrótce|kiedyś|eksperyment\w*|na próbę|tylko żeby (?:zobaczyć|sprawdzić)"
        r"|kawa|piwo|pizza|jednorożec|teoretycznie|ciekaw\w*|byłoby (?:fajnie|śmiesznie)|błąd\w*|błęd\w+|wywala\w*"
        r"|działa (?:już|teraz|dobrze)|nie działa|przechodzą|wolno (?!tylko)|zepsut\w+|dzięki|brakuje|zastanawiam"
        r"|czekaj|na blogu|zaleca|zalecają|jakby|\A(?:dawniej|kiedyś)\b(?!.*teraz)"
    ),
    asking=r"co|czemu|dlaczego|jak|gdzie|kto|któr\w+|kiedy|czy|możesz|możemy|ile",
    taking_back=(
        "żart(?:owałem|owałam|uję)?|zapomnij|nieważne|jednak nie|cofnij|wycofaj|wróć|lepiej nie|zostaw(?:my)?"
        "|anuluj|czekaj,? nie|nie zapisuj|rozmyśliłem|rozmyśliłam|po staremu|nie warto|zbyt ryzykowne|na żarty"
        "|wracamy do"
    ),
    known=(
        r"jak (?:zawsze|mówiłem|mówiłam|zwykle|ustaliliśmy)|przecież (?:wiesz|mówi\w+)|już (?:ci )?mówił\w+|znowu"
        "|przypominam|wiesz przecież"
    ),
    correcting="nie|źle|błąd|nieprawda|nie do końca|poprawka|właściwie|stop",
)

TURKISH: Final = Tongue(
    name="Turkish",
    common=(
        "ve|bir|bu|şu|o|de|da|mi|mı|mu|mü|ne|için|ile|var|yok|ama|değil|degil|çok|cok|ben|sen|biz|evet|hayır"
        "|hayir|ya|olsun|gibi|daha|ki"
    ),
    lasting=(
        "her zaman|hep|daima|asla|hiçbir zaman|hicbir zaman|bundan (?:sonra|böyle|boyle)|gelecekte|kural olarak"
        r"|genel olarak|varsayılan olarak|istisnasız|istisnasiz|kalıcı olarak|zorunlu|şart|mecburi|yasak|unutma\w*"
        r"|hatırla|aklında (?:tut|olsun)|not (?:et|al)|kural\w*|yeni kural|bizde|bizim|bu projede|bu depoda"
        "|bu repoda|karar (?:verdik|aldık|verildi)|kararlaştırdık|anlaştık|seçtik|geçtik|gectik|bıraktık|biraktik"
        "|değiştirdik|taşıdık|kesinleşti|kullanıyoruz|kullaniyoruz|diyoruz|yazıyoruz|yapıyoruz|tutuyoruz"
        "|kullanmıyoruz|kullanmiyoruz|kaldırdık|kalktı|kaldırıldı|istemiyorum|tercih (?:ediyorum|ederim)|sürece"
        "|olmadıkça|ikinci (?:bir )?emre kadar|kesinlikle|mutlaka|kural(?:ımız|dır)|izin yok|izin verilmez"
        "|serbest değil|kaydet(?: ki)?|aklına yaz|bilgin olsun|devam ediyoruz|kalıyoruz|tercih ettik|onaylandı"
        "|oybirliği|adını değiştirdik|emekli|çalışıyor artık|üzerinde çalışıyor|saklanıyor|saklanır|yazılır"
        "|yapılır|kullanılır|test edilir|yayınlanır|severim|sevmiyorum|sevmem|nefret|lütfen (?:hiç|asla|hep)"
        r"|sakın|bir daha|hariç|dışında|ekibimiz\w*|kullanmayız|kullanırız|yazarız|yaparız|deriz|karar kıldık"
        r"|\S+(?:ında|inde|unda|ünde|da|de) \S+ yok|\S+(?:mıyoruz|miyoruz|muyoruz|müyoruz|mayız|meyiz)"
        r"|her \S+ \S+ \S+ (?:ister|gerekir|gerektirir|almalı)|önce bana sor\w*|bana sormadan|geçersiz"
        r"|geçerli(?:dir)?|sadece \S+ kullan\w+|karar (?:verdi|kıldık)|burada her şey|her şey \S+ (?:ile|üzerinde)"
        r"|kimse \S+(?: \S+)? ?\S*(?:maz|mez)|her (?:gece|gün|hafta|ay|sabah)|renk körü\w*|\S+(?:mayı|meyi) bırak"
        "|(?:olaydan|denetimden) (?:sonra|beri)|(?:hukuk|güvenlik|müşteri) (?:ısrar|istiyor|yasaklıyor)"
    ),
    collective=(
        r"biz\w*|ekip\w*|takım\w*|burada|herkes|müşteri\w*|kullanıcı\w*"
        r"|\S+(?:ıyoruz|iyoruz|uyoruz|üyoruz|ıyoz|iyoz)"
    ),
    contrast=r"değil|degil|yok|ama|yerine|\S+m[ae]yın?|olmadan|hiç|hicbir|hiçbir",
    appositive=r"de[ğg]il,? \S+|\S+ de[ğg]il",
    every=(
        r"bütün|tüm|tum|her|hepsi|ikisi|sadece|yalnız\w*|en fazla|en az|her yerde|bütün \S+|tüm \S+|tum \S+"
        r"|her \S+ (?:için|icin|önce|once|sonra)|yalnızca|yalnizca|her yeni"
    ),
    norm=(
        r"olacak|olsun|lazım|lazim|gerek\w*|kalsın|kalacak|gidecek|\S+(?:malı|meli)\S*|yazılacak|yapılacak|olmalı"
        r"|olmali|\S+(?:malı|meli)(?:yız|yiz|dır|dir)?|gerekiyor|istiyorum|duruyor"
    ),
    change=r"artık|artik|şimdi|yeni\w*|değişti|degisti|geçtik|gectik|yerine|sildik",
    passing=(
        r"bugün\w*|bugun\w*|bu (?:sefer|seferlik|kez|kerelik|akşam|hafta)|şimdilik|simdilik|geçici\w*|gecici\w*"
        r"|yarın\w*|yarin\w*|dün|bir kereliğine|bir kere|şu an\w*|su an\w*|hemen|belki|acaba"
        r"|\S+(?:abilir|ebilir)\S*|varsayalım|diyelim|sanırım|sanirim|emin değilim|bilmiyorum|galiba|bakalım|henüz"
        r"|şaka\w*|saka\w*|haha\w*|lol|dedi|diyor\w*|göre|güya|bu (?:dosya|fonksiyon|satır|test)\w*|demo için"
        r"|sonra bak\w*|birazdan|yakında|bir gün|deney\w*|deneme\w*|denemek için|kahve|bira|pizza|teoride|merak\w*"
        r"|güzel olurdu|komik olurdu|\S+saydı\w*|\S+seydi\w*|hata\w*|çöküyor|çalışmıyor|çalışıyor|geçti|geçiyor"
        r"|yavaş\w*|bozuk|teşekkür\w*|eksik|bekle|merak|öneriyor|tavsiye|sanki|\Aeskiden\b(?!.*(?:artık|şimdi))"
    ),
    asking="ne|neden|niye|nasıl|nasil|nerede|kim|hangi|kaç|kac",
    taking_back=(
        r"şaka\w*|saka\w*|boş ?ver|bosver|vazgeç\w*|vazgec\w*|unut (?:gitsin|bunu)|geri al\w*|eski haline|iptal"
        "|dur,? hayır|yok,? dur|kaydetme|fikrimi değiştirdim|olmadı|gerek yok|kalsın böyle|değmez|çok riskli"
        r"|ciddi değil\w*|eskisi gibi|geri dön\w*"
    ),
    known="dediğim gibi|her zamanki gibi|biliyorsun|söylemiştim|demiştim|yine|tekrar|hatırlatayım|zaten",
    correcting="hayır|hayir|yok|yanlış|yanlis|öyle değil|tam değil|düzeltme|aslında|dur",
)

RUSSIAN: Final = Tongue(
    name="Russian",
    common="и|в|на|не|что|это|с|по|как|а|но|у|мы|ты|я|он|она|для|из|к|за|же|да|нет|так|там|тут|все|от|то|бы|ли",
    lasting=(
        "всегда|никогда|(?:с|от) (?:этого момента|сегодняшнего дня|сегодня|этого дня)|отныне|впредь|в будущем"
        r"|на будущее|как правило|по умолчанию|без исключени\w+|навсегда|обязательн\w+|обязан\w*|запрещен\w*"
        r"|запрещён\w*|нельзя|исключительно|запомн\w+|помни\w*|не забудь\w*|не забывай\w*|учти\w*|запиши"
        r"|имей в виду|правил[оа]|новое правило|соглашени\w+|у нас|наш\w*"
        "|в (?:этом|нашем) (?:проекте|репозитории|репе)|этот проект"
        "|команда (?:решила|договорилась|хочет|использует)|решили|договорились|условились|перешли|переходим"
        "|переехали|отказались|сменили|заменили|выбрали|решено|договорено|окончательно|используем|называем|пишем"
        "|говорим|храним|держим|делаем|деплоим|мержим|катим|тестируем|хочу,? чтобы|предпочитаю|не хочу"
        "|если не (?:скажу|прошу)|пока не скажу"
        r"|с (?:января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря|прошл\w+|v?\d)"
        "|раз и навсегда|до особого распоряжения|строго|не допускается|разрешено только|сохрани|возьми на заметку"
        "|к сведению|для справки|остановились на|остаёмся на|остаемся на|берём|берем|идём с|утвердили|утверждено"
        r"|согласовали|согласовано|консенсус|переименовал\w+|вывели|заменяет|живёт в|живет в|хранится в|хранятся в"
        r"|пишется|пишутся|собирается|собираются|тестируется|выкатывается|делается|не люблю|ненавижу|предпочита\w+"
        "|избегай|прекрати|хватит|без (?:ревью|тестов|согласования)|за исключением|в нашей команде|так принято"
        r"|принято|положено|стандарт|единственн\w+|ни одного|ни одной"
        r"|(?:\A|, (?:also |so |dus |więc |então |quindi |donc |así que )?)(?:никаких|никакого|никакой|без) (?!проблем\w*|ошибок|вопросов|изменений)\S+ (?:\S+ )?(?:в|на|без|с|для|при)"
        r"|не используем|не (?!знаем|имеем|можем|видим|понимаем|хотим|успеем)\w+(?:аем|яем|уем|им|ем|ём|ждем|ждём)"
        r"|кажд\w+ \S+ (?:нужн\w+|требу\w+|надо)|спрашивай меня|спроси меня перед|не действует|больше не"
        r"|используем только|только \S+ используем|теперь (?:это|на|в|у нас|используем|всё на)"
        r"|(?:тут|здесь) вс[её] на|вс[её] (?:на|через) \w+|никто не (?!знает|понимает)\w+"
        "|кажд(?:ую ночь|ый день|ую неделю|ый месяц|ое утро)|ежедневно|еженедельно|я дальтоник|перестань"
        "|после (?:инцидента|аудита|аварии)"
        r"|(?:юристы|безопасность|заказчик|клиент) (?:требу\w+|настаива\w+|запреща\w+)"
    ),
    collective=r"мы|нас|нам|наш\w*|команд\w+|здесь|тут|клиент\w+|пользовател\w+|все",
    contrast=r"не|нет|без|вместо|а не|ни|ничего|никто|никак\w+|никаких|никакого|кроме",
    appositive=r", (?:а )?не (?:в|на|из|через|как|числ\w+|\w+ом|\w+ами)\b",
    every=(
        r"вс[её]|всех|всем|кажд\w+|оба|обе|только|по|максимум|минимум|не больше|не меньше|люб\w+|везде|повсюду"
        r"|(?:для|во|на|в|у|к|при|ко) все(?:х|м|ми|й|ю)|все \S+ (?:должны|идут|лежат|пишем|храним)"
        r"|кажд\w+ \S+ (?:должен|должна|должно|имеет|получает|идет|идёт)|(?:для|в|на|к|перед|после|при) кажд\w+"
        "|только (?:через|по|из|в|на|с|после)|только (?:если|когда|те|тот)|не более|не менее|каждый раз"
    ),
    norm=(
        r"должн\w+|нужно|надо|пусть|остаётся|остается|лежит|лежат|идет|идёт|называется|работает|хранится|стро\w+"
        "|работает на|работают на|лежит в|лежат в|мне нравится"
    ),
    change=r"теперь|нов\w+|уже|изменил\w+|сменил\w+|раньше|больше не|не \S+ больше|убрали|удалили",
    passing=(
        "(?<!с )сегодня|в этот раз|на этот раз|пока (?!не скажу)|временно|до завтра|до понедельника|завтра|вчера"
        "|один раз|разово|только (?:сейчас|сегодня|тут|здесь|раз)|прямо сейчас|сейчас|быстро|может(?: быть)?"
        r"|возможно|наверное|мог\w* бы|можно было|допустим|представь|думаю|кажется|не знаю|не уверен\w*"
        r"|гипотетическ\w+|посмотрим|ещё не|еще не|если (?:бы|мы)|лес|шуч\w+|шутк\w+|хаха\w*|ахах\w*|лол|он сказал"
        "|говорит|сказали|согласно|якобы|пишут|написано|этот (?:файл|тест)|эту (?:функцию|строку)|в логе|для демо"
        r"|потом|позже|скоро|когда-нибудь|эксперимент\w*|на пробу|просто (?:посмотреть|проверить)|кофе|пиво|пицца"
        r"|единорог|в теории|любопытн\w+|было бы (?:забавно|круто|здорово)|пенси\w+|ошибк\w*|пада\w+|упал\w*"
        r"|не работает|работает(?! на)|прошли|проходят|тормозит|медленн\w+|сломал\w*|спасибо|опечатк\w+|не хватает"
        "|подожди|интересно|рекомендует|рекомендуют|советует|советуют|как будто"
        r"|\A(?:раньше|когда-то)\b(?!.*теперь)"
    ),
    asking=(
        "что|почему|зачем|как|где|кто|какой|какая|какие|какое|когда|можешь|можно ли|сколько|откуда|чем|а если"
        "|нельзя ли|стоит ли"
    ),
    taking_back=(
        r"шуч\w+|шутка|пошутил\w*|забудь|забей|отмена|отменяется|отмени|верни|откати|не надо|передумал\w*|лучше не"
        "|оставь как|оставим как|стоп,? нет|не запоминай|нет,? подожди|всё обратно|не стоит|слишком рискованно"
        r"|не всерьёз|не всерьез|оставляем|возвращаем\w*|вернёмся|вернемся"
    ),
    known=(
        r"как (?:я )?(?:говорил\w*|всегда|обычно|договаривались|сказал\w*)|ты (?:же )?знаешь|уже говорил\w*|опять"
        r"|снова|напоминаю|я же говорил\w*"
    ),
    correcting="нет|неверно|неправильно|не так|не совсем|ошибка|исправление|на самом деле|стоп|не то",
)

ARABIC: Final = Tongue(
    name="Arabic",
    common="في|من|على|إلى|هذا|هذه|لا|ما|هل|نعم|أن|مع|عن|كل|هو|هي|لكن|أو|ثم|يا|قد|كان|لم|ال",
    lasting=(
        "دائما|دائمًا|دوما|أبدا|أبدًا|من الآن فصاعدا|من الآن|بعد الآن|من اليوم|مستقبلا|في المستقبل|كقاعدة"
        r"|بشكل عام|افتراضيا|بدون استثناء|بلا استثناء|إلزامي\S*|إجباري\S*|ممنوع\S*|لا يجوز|يمنع|تذكر|تذكّر|احفظ"
        r"|لا تنس\S*|سجّل|قاعدة|قاعدتنا|عندنا|لدينا|في (?:هذا )?المشروع|الفريق|اتفقنا|قررنا|انتقلنا|تخلينا"
        r"|استبدلنا|غيرنا|غيّرنا|اخترنا|تركنا|قرار|نهائي\S*|نستخدم|نسمي|نكتب|نستعمل|لا نستخدم|حصرا|حصريا|أفضل أن"
        "|أريدك|لا أريد|إلا إذا|ما لم|مرة واحدة وإلى الأبد|حتى إشعار آخر|بشكل صارم|حصريًا|غير مسموح|لا يسمح"
        "|ممنوع منعا|اكتب في|دون عندك|للعلم|استقررنا|استقر الرأي|سنعتمد|اعتمدنا|نعتمد|تم الاتفاق|تم الاعتماد"
        "|وافق الفريق|تمت الموافقة|أعدنا تسمية|أزلنا|يوضع في|توضع في|يحفظ في|تحفظ في|أحب أن|لا أحب|أكره|أفضّل"
        r"|أفضل|تجنب|توقف عن|باستثناء|ما عدا|كحد أقصى|بحد أقصى|في فريقنا|هو المعيار|الوحيد\S*|ننشر|نضع|نحفظ|نسجل"
        r"|نختبر|لا ن\S+|كل \S+ \S* ?يحتاج|يحتاج \S+ إلى|اسألني|ملغى|المعتمد|لا أحد|كل (?:ليلة|يوم|أسبوع|شهر|صباح)"
        "|عمى الألوان|بعد الحادثة"
    ),
    collective=r"نحن|لنا|عندنا|لدينا|الفريق|هنا|الجميع|العملاء|المستخدم\S*|ن\S+ون",
    contrast=r"لا|ليس\S*|بدون|بدل\S*|لكن|غير|وليس|لم|بدلا من|بدل",
    appositive=r"وليس|لا \S+",
    every="كل|جميع|كلا|فقط|أي|لكل|الحد|لجميع|في جميع|في كل|جميع ال|كل ال|في كل مكان|إلا",
    norm="يجب|ينبغي|لازم|يبقى|تبقى|يكون|تكون|أريد أن|يعمل على|تعمل على|موجود في|موجودة في",
    change=r"الآن|جديد\S*|أصبح\S*|صار\S*|تغير\S*|لم نعد|حذفنا",
    passing=(
        r"(?<!من )اليوم|هذه المرة|مؤقت\S*|حاليا|حاليًا|الآن فقط|غدا|غدًا|أمس|حتى الغد|مرة واحدة|ربما|قد يكون"
        r"|لنفترض|تخيل|أظن|أعتقد|لا أعرف|لست متأكد\S*|افتراضي|سنرى|بعد قليل|أمزح|مزحة|هههه*|قال|يقول|حسب|وفقا"
        "|مكتوب|هذا الملف|للعرض|لاحقا|لاحقًا|قريبا|يوما ما|تجربة|للتجربة|قهوة|بيتزا|نظريا|فضول|خطأ|يتعطل|لا يعمل"
        r"|يعمل الآن|نجحت|فشل\S*|بطيء\S*|شكرا|ينقص|يوصي|ينصح|كأن|\A(?:سابقا|في الماضي)(?!.*الآن)"
    ),
    asking="ما|ماذا|لماذا|كيف|أين|من هو|أي|متى|هل|كم|لم لا",
    taking_back=(
        r"أمزح|كنت أمزح|مزحة|انس (?:الأمر|ذلك)|انسى|لا داعي|تراجع|ألغ\S*|إلغاء|أعد\S* كما|كما كان|غيرت رأيي"
        "|لا تحفظ|الأفضل لا|لا، انتظر|لا يستحق|لم أكن جادا|نبقى على|عد إلى|كالسابق"
    ),
    known="كما (?:قلت|تعلم|تعرف|اتفقنا|قلنا)|كالعادة|قلت لك|مرة أخرى|أذكرك|تذكير",
    correcting="لا|خطأ|غير صحيح|ليس هكذا|تصحيح|في الحقيقة|توقف",
)
