"""Stop words: the function words of a language, which say little about what a text is about.

Removing them rarely helps naive Bayes, so it is off unless asked for. One rule holds for every list here: it never
holds a negation, nor a piece of one ("didn" and "t" of "didn't"): "not good" must not become "good". That is why
"can" and "won" are missing: they are also what is left of "can't" and "won't".

The lists are in lower case, and hold the pieces that splitting at apostrophes leaves ("ll", "dell").
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ingenuo.text.choices import one_of

_ENGLISH = """
a an the this that these those each every either some any all both another other others such same own

i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves one ones oneself who whom whose which what whoever whatever
whichever someone somebody something anyone anybody anything everyone everybody everything

am is are was were be been being have has had having do does did doing done will would shall should may might must
could ought let lets

about above across after against along amid among amongst around as at before behind below beneath beside besides
between beyond by down during for from in inside into near of off on onto out outside over past per since than
through throughout till to toward towards under underneath until unto up upon via with within

and but or if because so although though while whereas whether when whenever where wherever how why

also again already always ever even else further here hence however indeed just more most much many meanwhile
moreover now often once only perhaps quite rather really sometimes soon still then there therefore thus together too
very yet

ll ve re s d m
"""

_ITALIAN = """
il lo la i gli le un uno una

di a da in con su per tra fra
del dello della dei degli delle al allo alla ai agli alle dal dallo dalla dai dagli dalle
nel nello nella nei negli nelle sul sullo sulla sui sugli sulle col coi
dopo prima durante verso presso dentro fuori sopra sotto dietro davanti oltre fino circa attraverso

io tu lui lei egli ella esso essa noi voi essi esse loro me te sé mi ti si ci vi ne li
mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri nostre vostro vostra vostri vostre
questo questa questi queste quello quella quelli quelle quel quei quegli ciò stesso stessa stessi stesse
che chi cui quale quali quanto quanta quanti quante cosa
qualche qualcuno qualcosa alcuni alcune ogni ognuno ciascuno tutto tutta tutti tutte altro altra altri altre

e ed o od oppure ma però anche se perché poiché mentre quando come dove quindi dunque allora cioè infatti

essere sono sei è siamo siete ero eri era eravamo eravate erano fu furono sarò sarai sarà saremo sarete saranno
sarebbe sarebbero sia siano fosse fossero stato stata stati state essendo
avere ho hai ha abbiamo avete hanno avevo avevi aveva avevamo avevate avevano avrò avrà avranno avrebbe avrebbero
abbia abbiano avesse avessero avuto avendo
sto stai sta stiamo stanno stava stavano

ancora già poi qui qua lì là ora adesso sempre più molto così solo proprio quasi tanto

l c d m s t v dell all dall nell sull coll quell quest dov com anch tutt po
"""

_SPANISH = """
el la los las lo un una unos unas al del

a ante bajo con contra de desde durante en entre hacia hasta mediante para por según sobre tras

yo tú él ella ello nosotros nosotras vosotros vosotras ellos ellas usted ustedes mí ti conmigo contigo consigo
me te se nos os le les
mi mis tu tus su sus mío mía míos mías tuyo tuya tuyos tuyas suyo suya suyos suyas
nuestro nuestra nuestros nuestras vuestro vuestra vuestros vuestras
este esta esto estos estas ese esa eso esos esas aquel aquella aquello aquellos aquellas
que qué quien quién quienes quiénes cual cuál cuales cuáles cuyo cuya cuyos cuyas cuanto cuánto
algo alguien algún alguno alguna algunos algunas cada todo toda todos todas otro otra otros otras
mismo misma mismos mismas tal tales ambos ambas

y e o u pero aunque porque pues si como cómo cuando cuándo donde dónde mientras

ser soy eres es somos sois son era eras éramos eran fui fue fuimos fueron será serán sería serían sea sean fuera
fueran siendo sido
estar estoy estás está estamos estáis están estaba estabas estábamos estaban estuvo estuvieron esté estén estando
estado
haber he has ha hemos habéis han había habías habíamos habían hubo habrá habrán habría habrían haya hayan hubiera
hubieran habido hay

muy más mucho mucha muchos muchas tan tanto también ya así aún todavía siempre solo sólo entonces luego después antes
ahora aquí ahí allí casi además
"""

STOP_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "english": frozenset(_ENGLISH.split()),
        "italian": frozenset(_ITALIAN.split()),
        "spanish": frozenset(_SPANISH.split()),
    }
)


def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language, in lower case.

    >>> "the" in stop_words("english"), "not" in stop_words("english")
    (True, False)
    """
    return STOP_WORDS[one_of("stop_words", language, STOP_WORDS)]
