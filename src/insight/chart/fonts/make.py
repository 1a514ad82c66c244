"""Makes the embedded fonts: pip install fonttools; apt-get install fonts-inter fonts-droid-fallback; python3 make.py"""
import sys
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

INTER = "/usr/share/fonts/opentype/inter/Inter-%s.otf"
DROID = "/usr/share/fonts-droid-fallback/truetype/DroidSansFallback.ttf"
OUT = sys.argv[1] if len(sys.argv) > 1 else "."

LATIN = [(0x20, 0x24F), (0x2B0, 0x2FF), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x1E00, 0x1EFF),
         (0x2000, 0x206F), (0x2070, 0x209F), (0x20A0, 0x20CF), (0x2100, 0x214F), (0x2190, 0x2199),
         (0x2200, 0x22FF), (0x25A0, 0x25FF)]

def latin():
    return {c for a, b in LATIN for c in range(a, b + 1)}

def chinese():
    """All of GB 2312 (6,763 characters), level 1 of Big5 (5,401), kana, CJK punctuation and full-width forms."""
    out = set()
    for hi in range(0xA1, 0xF8):
        for lo in range(0xA1, 0xFF):
            try: out.add(ord(bytes([hi, lo]).decode("gb2312")))
            except UnicodeDecodeError: pass
    for hi in range(0xA4, 0xC7):
        for lo in list(range(0x40, 0x7F)) + list(range(0xA1, 0xFF)):
            try: out.add(ord(bytes([hi, lo]).decode("big5")))
            except (UnicodeDecodeError, TypeError): pass
    out |= set(range(0x3000, 0x3100)) | set(range(0xFF00, 0xFFF0))
    return {c for c in out if c >= 0x2E80}

def options():
    o = Options()
    o.layout_features = ["kern", "ccmp", "locl", "mark", "mkmk"]
    o.hinting = False
    o.desubroutinize = False
    o.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14, 16, 17]
    o.notdef_outline = True
    return o

def tabular(font):
    """Figures of one width by default: every digit's cmap entry goes to its tabular form."""
    gsub = font["GSUB"].table
    swap = {}
    for record in gsub.FeatureList.FeatureRecord:
        if record.FeatureTag == "tnum":
            for index in record.Feature.LookupListIndex:
                for table in gsub.LookupList.Lookup[index].SubTable:
                    table = getattr(table, "ExtSubTable", table)
                    swap.update(table.mapping)
    for table in font["cmap"].tables:
        for code in range(0x30, 0x3A):
            if code in table.cmap: table.cmap[code] = swap.get(table.cmap[code], table.cmap[code])

def make(path, codes, name, prepare=None):
    font = TTFont(path)
    if prepare: prepare(font)
    s = Subsetter(options())
    s.populate(unicodes=codes)
    s.subset(font)
    font.save(f"{OUT}/{name}")
    print(name, len(font.getGlyphOrder()), "glyphs")

make(INTER % "Regular", latin(), "Inter-Regular.otf", tabular)
make(INTER % "SemiBold", latin(), "Inter-SemiBold.otf", tabular)
make(DROID, chinese(), "DroidSansFallback.ttf")


def bolden(source, target, strength=7):
    """A semi-bold companion: every outline of `source` made `strength` units (of 256) heavier with FreeType."""
    import ctypes
    import freetype
    font, face = TTFont(source), freetype.Face(source)
    upm = font["head"].unitsPerEm
    face.set_char_size(upm * 64, 0, 72, 72)
    glyf, hmtx = font["glyf"], font["hmtx"]
    for index, name in enumerate(font.getGlyphOrder()):
        glyph = glyf[name]
        if glyph.isComposite() or glyph.numberOfContours <= 0:
            continue
        face.load_glyph(index, freetype.FT_LOAD_NO_HINTING | freetype.FT_LOAD_NO_BITMAP)
        outline = face.glyph.outline
        freetype.FT_Outline_Embolden(ctypes.byref(outline._FT_Outline), strength * 64)
        points = [(round(x / 64 - strength / 2), round(y / 64 - strength / 2)) for x, y in outline.points]
        assert len(points) == len(glyph.coordinates), name
        for i, point in enumerate(points):
            glyph.coordinates[i] = point
        glyph.recalcBounds(glyf)
        hmtx[name] = (hmtx[name][0], glyph.xMin)
    font["OS/2"].usWeightClass = 600
    font["OS/2"].fsSelection = font["OS/2"].fsSelection & ~0x40
    for record in font["name"].names:
        if record.nameID in (2, 17): record.string = "SemiBold"
        if record.nameID == 4: record.string = "Droid Sans Fallback SemiBold"
        if record.nameID == 6: record.string = "DroidSansFallback-SemiBold"
    font.save(target)


bolden(f"{OUT}/DroidSansFallback.ttf", f"{OUT}/DroidSansFallback-SemiBold.ttf")
