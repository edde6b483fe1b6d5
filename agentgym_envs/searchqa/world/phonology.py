"""Names of people and places in seven invented cultures, put together from parts."""

from __future__ import annotations

from dataclasses import dataclass

from agentgym_envs.searchqa.world.dice import Dice


@dataclass(frozen=True)
class Culture:
    """How a people builds names: each part is a list of beginnings and one of endings."""

    name: str
    male: tuple[str, str]
    female: tuple[str, str]
    surname: tuple[str, str]
    place: tuple[str, str]

    def given_name(self, dice: Dice, gender: str) -> str:
        """Make a given name."""
        return _join(dice, self.male if gender == "male" else self.female)

    def family_name(self, dice: Dice) -> str:
        """Make a family name."""
        return _join(dice, self.surname)

    def place_name(self, dice: Dice) -> str:
        """Make the name of a town, river, lake or mountain."""
        while (name := _join(dice, self.place)).casefold() in REAL_NAMES:
            continue
        return name


def _join(dice: Dice, parts: tuple[str, str]) -> str:
    starts, ends = (part.split() for part in parts)
    start, end = dice.pick(starts), dice.pick(ends)
    if start[-1] == end[0]:
        end = end[1:]
    return start + end


CULTURES: dict[str, Culture] = {
    culture.name: culture
    for culture in (
        Culture(
            "Halvic",
            (
                "Tor Ald Halv Sver Ein Bram Rolv Ask Gard Jor Orm Vig Stig Hak Eyv Dag Run Kol",
                "vald mund rik sten gar bert nar ulf ek in mar grim lak ven",
            ),
            (
                "Sig Ing Hild Ast Rag Sol Thyr Gun Bryn Liv Alf Dag Run Tor Jor Svan",
                "run dis hild borg veig rid vor ine na laug frid",
            ),
            (
                "Vor Lind Kval Stren Hamr Ulv Berg Grim Nord Fal Sand Tveit Eik Holm Rask Skov",
                "haug dalen strand vik nes mark lund rud sund gaard moen set berg land",
            ),
            (
                "Hav Ulv Grim Stor Kald Vest Osk Tind Fjal Rask Brun Selv Myr Skar Langs Torn Aur",
                "heim vik stad fjord borg havn dal nes by mo sund ling",
            ),
        ),
        Culture(
            "Soranese",
            (
                "Aur Cel Mar Tib Lor Bast Fab Sev Ran Cor Dam Ett Ger Hor Jac Ott Pel Val",
                "elio iano esto ando ento ico umo ero aldo iso orio ezzo",
            ),
            (
                "Aur Cel Mar Lor Vit Fio Sev Ran Ter Dal Ett Gem Liv Ner Ott Pal Val Zef",
                "ella iana esta inda enza ica ora etta alda isa iola",
            ),
            (
                "Bell Cast Mont Ferr Gall Vand Tess Corv Lucc Marr Salv Fior Padr Quar Rond Sart",
                "avelli erano olesi ucci agni ietti ondo aldi iero evara ossi ente anico",
            ),
            (
                "Cast Mont Vall Serr Port Cald Fonn Riv Alb Tar Lum Mor Pell Cor Ven Sol Mar",
                "avera ello ignano ezza imare ona erno ossa uccio ente ola ara essina",
            ),
        ),
        Culture(
            "Orzhan",
            (
                "Bor Drag Milo Rad Stan Vlad Yar Kaz Mir Svet Zor Tikh Ond Lub Ves Grod",
                "omir islav an imir oslav en ik omil ovan ush ek gor",
            ),
            (
                "Bor Drag Mil Rad Stan Vlad Yar Kaz Mir Svet Zor Tikh Ond Lub Ves Zden",
                "ana islava enka imira ina ka ova ila ushka ena ada",
            ),
            (
                "Brez Kov Dub Yark Zhel Ostr Vor Grab Plesh Sok Tur Chern Hrast Lis Medv Rokh",
                "ovsky enko arin ilov ets ovich anek inov uk emin achev olin",
            ),
            (
                "Belo Novo Zhel Ostr Kras Dub Vysh Grod Plesk Tver Chern Lesk Ozer Rudn Yar Star",
                "gorsk ovets insk polye grad ava ichi ovo etsk any nitsa zhin",
            ),
        ),
        Culture(
            "Kethari",
            (
                "Az Bah Far Jam Kas Nad Qar Raz Shah Tar Zaf Om Hak Idr Mal Sam",
                "im ir oun ad een ar il ush arim and esh ouk",
            ),
            (
                "Az Bah Far Jam Kas Nad Rash Laz Shah Tar Zaf Om Hak Idr Mal Sam Yas",
                "ira een aya ila oush mine ana iya ara essa afa",
            ),
            (
                "Abd Dar Kaz Mehr Nour Qas Rost Sab Tah Zar Hash Ban Far Jal Kher Mas",
                "ani ouri adeh amir azim evi oush arad emi ooni astan awi",
            ),
            (
                "Al Dar Khar Mesh Nah Qal Rash Shar Tab Zar Ban Hal Isf Jaz Kir Sam Sil",
                "abad amar ezin oum aht ira ouk andar azeh estan ash afir",
            ),
        ),
        Culture(
            "Brennic",
            (
                "Aed Bren Cad Con Dun Eog Fer Gar Kier Lor Mael Niall Oisc Ruar Tam Wyn",
                "an oc in nan gus ric aith all or wyn dan en",
            ),
            (
                "Aed Bren Cad Con Deir Eith Fion Gwen Kier Lor Maev Niam Or Rhian Tam Wyn",
                "a ne wen lyn eth nis ola ith agh ora edd",
            ),
            (
                "Mac Tre Pen Pol Kil Car Dun Bal Bryn Gwar Mor Ros Tal",
                "kerran donagh veth gorran lowen hallan dowan mallick rannock garvey thane wenna "
                "lachan brannagh",
            ),
            (
                "Aber Bal Car Dun Glen Inver Kil Llan Pen Pol Ros Tre Strath Craig Ard Loch",
                "more gwyn annoch dour veor kerran allan wick maddoc ness owen dara lorne",
            ),
        ),
        Culture(
            "Tamuan",
            (
                "Ka Ma Ta Na Lo Ha Ke Mo Pa Ro Te Wai Ku Ari Ho Ru",
                "leo nui hiko mana rangi toa wiri lani koro kai pune rotu",
            ),
            (
                "Ka Ma Ta Na Lo Ha Ke Mo Pa Ro Te Wai Ku Ari Ho Mere",
                "lani hina moana rua wena tiri pua leha noe kira mele rita",
            ),
            (
                "Tau Kama Rua Pele Hana Maka Wai Tamo Nalu Kore Fale Pua Rongo Teki",
                "mua kahi lani tere huna wara poto nuku roa keno fua maki",
            ),
            (
                "Tau Kama Rua Pele Hana Maka Wai Tamo Nalu Kore Fale Pua Ono Ala Manu",
                "loa hiva rangi pura tiki moku keke tapu naki roto waka",
            ),
        ),
        Culture(
            "Ishkari",
            (
                "Hiro Taka Ren Kazu Nobu Shin Toru Yori Masa Kiri Haru Sado Gen Iku",
                "michi ro nari to shige maru taro ya hei suke mori zan",
            ),
            (
                "Hiro Taka Ren Kazu Nobu Shin Sumi Yori Masa Kiri Haru Aya Nao Iku",
                "mi ka ko na yo ri sa no mei e ha ra",
            ),
            (
                "Kuro Taki Mori Ishi Naka Oka Saka Tani Hoshi Aki Yana Shima Kane Uchi",
                "gawa zawa mori tani hara moto saki zuka bane ji numa kura",
            ),
            (
                "Kuro Taki Mori Ishi Naka Oka Saka Tani Hoshi Aki Yana Shira Kane Umi",
                "hama tsu yama zaki jima gata shiro hashi numa wara tomi beri",
            ),
        ),
    )
}

REAL_NAMES = frozenset(
    """novograd belograd aberdour okayama castello taranto salerno livorno verona morioka nakajima
    kurohama stavanger trondheim westheim inverness penrose glenmore strathmore kilkenny belgorod
    novgorod kraskino tver yaroslavl alabad isfahan samara samarkand rashid karachi albany
    waikiki waikato tauranga rotorua corona verano caldera montella salara tarentum venezia solano
    arezzo moresby tambora ardmore ardara craigmore glenallan pennsylvania carlow castignano
    langsund kaldnes ulvik grimstad grimsby storvik brunstad vestby vestdal skarborg skarnes
    myrdal havnes tornio aurland stordal starigrad vysehrad krasova yarovo staronova rudnik
    dubovo dubinsk dubovets montara montera montesa portello portola valletta vallone calderara
    kuroshiro takizawa moriyama ishiyama nakayama okazaki sakata akita kanezaki umihara sakai
    takayama hoshiyama shirahama akitsu ishigata nakatsu moritsu ishihara""".split()
)
"""Places that exist and that the parts could spell."""
