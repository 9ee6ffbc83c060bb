#include <array>
#include <cmath>

#include "ui/theme/color_role.h"

namespace sonde::theme {
namespace {

using enum ColorRole;

// Neutral greys carry the window so that colour is left for meaning; accents keep one hue per meaning in all schemes.
// Watch, end, input and output use hues of the Okabe-Ito set (blue, vermilion, green), which colour-blind people can
// tell apart; each is drawn with a mark of its own shape as well.
constexpr std::array<ColorRow, static_cast<std::size_t>(Count)> kColors{{
    {Window, "Window", 0xf3f4f6, 0x1f2328, 0x000000},
    {Panel, "Panel", 0xfafbfc, 0x23272d, 0x000000},
    {Base, "Base", 0xffffff, 0x1a1d21, 0x000000},
    {AlternateRow, "AlternateRow", 0xf6f7f9, 0x1e2227, 0x141414},
    {Raised, "Raised", 0xffffff, 0x2d323a, 0x101010},
    {Hover, "Hover", 0xe8ebef, 0x343a43, 0x333333},
    {Pressed, "Pressed", 0xdadfe6, 0x3d444f, 0x4d4d4d},
    {Border, "Border", 0xdcdfe4, 0x353b44, 0xffffff},
    {StrongBorder, "StrongBorder", 0xb4bbc6, 0x545d6a, 0xffffff},
    {Text, "Text", 0x1d222a, 0xdfe3e8, 0xffffff},
    {MutedText, "MutedText", 0x59626f, 0xa0a9b6, 0xe6e6e6},
    {DisabledText, "DisabledText", 0x9aa2ad, 0x656e7a, 0xa0a0a0},
    {Accent, "Accent", 0x2a66c8, 0x3a70c4, 0xffd400},
    {AccentText, "AccentText", 0xffffff, 0xffffff, 0x000000},
    {AccentSoft, "AccentSoft", 0xdbe7fb, 0x2b4164, 0xffd400},
    {AccentSoftText, "AccentSoftText", 0x16233a, 0xe9f0fb, 0x000000},
    {Link, "Link", 0x1d5bbb, 0x7fb2ff, 0x8ccbff},
    {FocusRing, "FocusRing", 0x2a66c8, 0x6ea3f5, 0xffd400},
    {ToolTip, "ToolTip", 0x2a2f37, 0x3a414b, 0x000000},
    {ToolTipText, "ToolTipText", 0xf5f6f8, 0xf0f2f5, 0xffffff},
    {ScrollHandle, "ScrollHandle", 0xc6ccd4, 0x474f5a, 0xc0c0c0},
    {ScrollHandleHover, "ScrollHandleHover", 0xa3acb8, 0x616b79, 0xffffff},

    {Info, "Info", 0x1d5bbb, 0x7fb2ff, 0x8ccbff},
    {Success, "Success", 0x186f4e, 0x5fcf9f, 0x5cf0b0},
    {Warning, "Warning", 0x8a5200, 0xf0b458, 0xffd060},
    {Error, "Error", 0xb3261e, 0xff8f84, 0xff9c92},
    {InfoBackground, "InfoBackground", 0xe6effc, 0x203049, 0x001a3d},
    {SuccessBackground, "SuccessBackground", 0xe0f4ea, 0x1b3a2e, 0x00301c},
    {WarningBackground, "WarningBackground", 0xfdf0d5, 0x423314, 0x3a2600},
    {ErrorBackground, "ErrorBackground", 0xfde7e5, 0x4a2524, 0x400806},

    {Canvas, "Canvas", 0xfdfdfe, 0x181b1f, 0x000000},
    {CanvasGrid, "CanvasGrid", 0xeef0f3, 0x22262c, 0x202020},
    {SelectionOutline, "SelectionOutline", 0x1a5fd0, 0x7db3ff, 0xffd400},
    {HoverOutline, "HoverOutline", 0x7fa6e4, 0x4f7dbd, 0xfff2a8},
    {WatchMark, "WatchMark", 0x0072b2, 0x56b4e9, 0x7fd0ff},
    {WatchMarkText, "WatchMarkText", 0xffffff, 0x06202f, 0x000000},
    {EndMark, "EndMark", 0xb84c00, 0xf08a4b, 0xffa468},
    {EndMarkText, "EndMarkText", 0xffffff, 0x2b1000, 0x000000},
    {CurrentMark, "CurrentMark", 0x0b8a62, 0x3fc997, 0x4dffb8},
    {ErrorMark, "ErrorMark", 0xc8261d, 0xff7468, 0xff8a80},
    {WarningMark, "WarningMark", 0xb87400, 0xf0b458, 0xffd060},
    {SearchHit, "SearchHit", 0xffe27a, 0x8a6d12, 0xffff00},
    {SearchHitText, "SearchHitText", 0x2a2200, 0xffffff, 0x000000},
    {DimVeil, "DimVeil", 0xc0fdfdfe, 0xb8181b1f, 0xb0000000},
    {DimmedText, "DimmedText", 0x707884, 0x969ea9, 0xa8a8a8},
    {Edge, "Edge", 0x98a1ae, 0x5f6977, 0xc8c8c8},
    {EdgeHighlight, "EdgeHighlight", 0x1a5fd0, 0x7db3ff, 0xffd400},
    {EdgeOfInput, "EdgeOfInput", 0x008a63, 0x3fc997, 0x4dffb8},
    {EdgeOfOutput, "EdgeOfOutput", 0xc85200, 0xf08a4b, 0xffa468},
    {EdgeLabel, "EdgeLabel", 0x565f6c, 0xa8b1bd, 0xffffff},
    {EdgeLabelBackground, "EdgeLabelBackground", 0xfdfdfe, 0x181b1f, 0x000000},
    {ModuleFill0, "ModuleFill0", 0xf5f7fa, 0x1f2329, 0x0a0a0a},
    {ModuleFill1, "ModuleFill1", 0xedf1f6, 0x262b33, 0x161616},
    {ModuleFill2, "ModuleFill2", 0xe4eaf2, 0x2d333c, 0x222222},
    {ModuleFill3, "ModuleFill3", 0xdbe3ed, 0x343b46, 0x2e2e2e},
    {ModuleFill4, "ModuleFill4", 0xd2dbe8, 0x3b434f, 0x3a3a3a},
    {ModuleFill5, "ModuleFill5", 0xdfe6ef, 0x313843, 0x282828},
    {ModuleStroke, "ModuleStroke", 0xb9c3d1, 0x4d5764, 0xffffff},
    {ModuleTitle, "ModuleTitle", 0x2b3442, 0xd5dbe3, 0xffffff},
    {ModuleSubtitle, "ModuleSubtitle", 0x4b5565, 0xb0b8c4, 0xf0f0f0},
    {StubFill, "StubFill", 0xf0f1f4, 0x2a2f36, 0x101010},
    {StubStroke, "StubStroke", 0xa9b1bd, 0x5d6673, 0xffffff},
    {StubText, "StubText", 0x3d4653, 0xc3cad4, 0xffffff},
    {NodeSubtext, "NodeSubtext", 0x4e5765, 0xb4bcc7, 0xf0f0f0},
    {MinimapBackground, "MinimapBackground", 0xf3f4f6, 0x22262c, 0x000000},
    {MinimapNode, "MinimapNode", 0xaab3c0, 0x5c6673, 0xd0d0d0},
    {MinimapView, "MinimapView", 0x2a66c8, 0x7fb2ff, 0xffd400},
    {MinimapVeil, "MinimapVeil", 0x28303a48, 0x60000000, 0x80000000},

    {PlotBackground, "PlotBackground", 0xffffff, 0x1a1d21, 0x000000},
    {PlotBar, "PlotBar", 0x6f97d6, 0x5a83c2, 0x8ccbff},
    {PlotBarHover, "PlotBarHover", 0x2a66c8, 0x9cc3ff, 0xffd400},
    {PlotAxis, "PlotAxis", 0x9aa2ad, 0x656e7a, 0xffffff},
    {PlotGrid, "PlotGrid", 0xebedf0, 0x2a2f36, 0x404040},
    {PlotLabel, "PlotLabel", 0x59626f, 0xa0a9b6, 0xffffff},
    {NanMark, "NanMark", 0xe8339f, 0xff5cc4, 0xff7ad0},
    {InfMark, "InfMark", 0xe08700, 0xffb02e, 0xffc44d},
    {ReadMark, "ReadMark", 0xc96a00, 0xffa94d, 0xffb84d},
    {WriteMark, "WriteMark", 0x3f8fd0, 0x9ccdf5, 0xb3dcff},
    {MarkInk, "MarkInk", 0x141414, 0x0a0a0a, 0x000000},
    {CellGrid, "CellGrid", 0x30000000, 0x40ffffff, 0x80ffffff},
    {DiffAdded, "DiffAdded", 0x186f4e, 0x5fcf9f, 0x5cf0b0},
    {DiffRemoved, "DiffRemoved", 0xb3261e, 0xff8f84, 0xff9c92},
    {DiffChanged, "DiffChanged", 0x9c3f7a, 0xe79bc9, 0xffa8dc},
    {DiffMoved, "DiffMoved", 0x2b5fb0, 0x8ab6ff, 0x9cc4ff},
    {WhyMark, "WhyMark", 0x0b7f8a, 0x3fd0da, 0x66f0ff},
}};

constexpr bool inOrder() {
    for (std::size_t i = 0; i < kColors.size(); ++i)
        if (static_cast<std::size_t>(kColors[i].role) != i) return false;
    return true;
}
static_assert(inOrder(), "the rows stand in the order of ColorRole");

struct CategoryRow {
    OpCategory category;
    const char* key;
    const char* title;
    quint32 values[3][3];  // scheme × fill, stroke, text
};

// Hues follow Netron's classes. Lightness and chroma are set per scheme in Oklch (B. Ottosson, "A perceptual color
// space for image processing", 2020) so that no class shouts: light fill L .945, stroke L .60, text L .33; dark fill
// L .335, stroke L .62, text L .93; high contrast fill L .20, stroke L .86.
constexpr std::array<CategoryRow, static_cast<std::size_t>(OpCategory::Count)> kCategories{{
    {OpCategory::Layer,
     "layer",
     "Layer",
     {{0xe2eeff, 0x5181c7, 0x1a355d}, {0x253752, 0x5f87c3, 0xdde9fa}, {0x041531, 0xb5d3ff, 0xffffff}}},
    {OpCategory::Activation,
     "activation",
     "Activation",
     {{0xffe6e3, 0xbd6158, 0x57231f}, {0x4f2b27, 0xbc6d64, 0xf9e2de}, {0x2c0806, 0xfebfb7, 0xffffff}}},
    {OpCategory::Pool,
     "pool",
     "Pool",
     {{0xdef4dd, 0x539156, 0x1a3f1d}, {0x263d27, 0x619563, 0xdeecde}, {0x031c05, 0x98e89a, 0xffffff}}},
    {OpCategory::Normalisation,
     "normalisation",
     "Normalisation",
     {{0xd5f5ee, 0x239382, 0x013f36}, {0x183e37, 0x439788, 0xd9ede8}, {0x001b17, 0x69ebd4, 0xffffff}}},
    {OpCategory::Transform,
     "transform",
     "Transform",
     {{0xd6f4f5, 0x2b9095, 0x003e41}, {0x1a3d3f, 0x469498, 0xd9eced}, {0x001b1c, 0x6fe6ed, 0xffffff}}},
    {OpCategory::Dropout,
     "dropout",
     "Dropout",
     {{0xeaebff, 0x7a77ba, 0x323055}, {0x34334d, 0x817fb8, 0xe6e6f6}, {0x14122b, 0xcbcbff, 0xffffff}}},
    {OpCategory::Shape,
     "shape",
     "Shape",
     {{0xfbe9df, 0xa3745a, 0x482e20}, {0x443228, 0xa47c66, 0xf1e5df}, {0x231107, 0xffc2a0, 0xffffff}}},
    {OpCategory::Tensor,
     "tensor",
     "Tensor",
     {{0xf4ecde, 0x937d57, 0x40331e}, {0x3e3527, 0x978363, 0xede7de}, {0x1d1406, 0xeacc9c, 0xffffff}}},
    {OpCategory::Data,
     "data",
     "Data",
     {{0xe9edf3, 0x75828f, 0x2f363e}, {0x32373c, 0x7d8793, 0xe5e8eb}, {0x12171c, 0xc3d3e4, 0xffffff}}},
    {OpCategory::Quantisation,
     "quantisation",
     "Quantisation",
     {{0xf0efd4, 0x898335, 0x3a3706}, {0x3a381b, 0x8e894a, 0xeae9d8}, {0x191700, 0xddd674, 0xffffff}}},
    {OpCategory::Attention,
     "attention",
     "Attention",
     {{0xffe8d4, 0xb46d10, 0x4f2c00}, {0x4b3013, 0xb37736, 0xf6e4d5}, {0x241000, 0xfec48b, 0xffffff}}},
    {OpCategory::Elementwise,
     "elementwise",
     "Element-wise",
     {{0xf5e7fc, 0x9570a5, 0x412c4a}, {0x3f3045, 0x9878a6, 0xede4f1}, {0x1e0f24, 0xeabefe, 0xffffff}}},
    {OpCategory::Reduction,
     "reduction",
     "Reduction",
     {{0xffe4f2, 0xaa678e, 0x4d273d}, {0x472d3c, 0xab7192, 0xf3e2eb}, {0x250b1b, 0xfeb8df, 0xffffff}}},
    {OpCategory::Control,
     "control",
     "Control flow",
     {{0xe2eff6, 0x618699, 0x233943}, {0x2b3940, 0x6c8b9b, 0xe1e9ee}, {0x09181f, 0xa9d9f1, 0xffffff}}},
    {OpCategory::Constant,
     "constant",
     "Constant",
     {{0xebedef, 0x7d8185, 0x333638}, {0x353738, 0x83868a, 0xe7e8e9}, {0x151618, 0xccd2d7, 0xffffff}}},
    {OpCategory::Input,
     "input",
     "Input",
     {{0xd1f8e5, 0x0f976e, 0x01402c}, {0x0f402f, 0x2e9c75, 0xd7efe3}, {0x001c11, 0x47f2b6, 0xffffff}}},
    {OpCategory::Output,
     "output",
     "Output",
     {{0xffe7de, 0xc85c2e, 0x5c1f02}, {0x532a19, 0xc56944, 0xfce1d7}, {0x2c0800, 0xffc1a9, 0xffffff}}},
    {OpCategory::Unknown,
     "unknown",
     "Unknown",
     {{0xffe6e5, 0xda404e, 0x660919}, {0x5b2124, 0xd6565c, 0xffdfde}, {0x330005, 0xfebebd, 0xffffff}}},
}};

constexpr bool categoriesInOrder() {
    for (std::size_t i = 0; i < kCategories.size(); ++i)
        if (static_cast<std::size_t>(kCategories[i].category) != i) return false;
    return true;
}
static_assert(categoriesInOrder(), "the rows stand in the order of OpCategory");

// clang-format off
constexpr TextPair kTextPairs[] = {
    {Text, Window}, {Text, Panel}, {Text, Base}, {Text, AlternateRow}, {Text, Raised}, {Text, Hover}, {Text, Pressed},
    {MutedText, Window}, {MutedText, Panel}, {MutedText, Base}, {MutedText, AlternateRow}, {MutedText, Raised},
    {AccentText, Accent}, {AccentSoftText, AccentSoft}, {ToolTipText, ToolTip},
    {Link, Window}, {Link, Panel}, {Link, Base}, {Link, InfoBackground}, {Link, WarningBackground}, {Link, ErrorBackground},
    {Info, Panel}, {Info, Base}, {Info, InfoBackground}, {Success, Panel}, {Success, Base}, {Success, SuccessBackground},
    {Warning, Panel}, {Warning, Base}, {Warning, WarningBackground}, {Error, Panel}, {Error, Base}, {Error, ErrorBackground},
    {Text, InfoBackground}, {Text, SuccessBackground}, {Text, WarningBackground}, {Text, ErrorBackground},
    {MutedText, InfoBackground}, {MutedText, SuccessBackground}, {MutedText, WarningBackground}, {MutedText, ErrorBackground},
    {Text, Canvas}, {MutedText, Canvas}, {Link, Canvas}, {WatchMarkText, WatchMark}, {EndMarkText, EndMark}, {SearchHitText, SearchHit},
    {EdgeLabel, Canvas}, {EdgeLabel, EdgeLabelBackground}, {ModuleTitle, EdgeLabelBackground}, {EdgeLabel, ModuleFill0}, {EdgeLabel, ModuleFill1},
    {EdgeLabel, ModuleFill2}, {EdgeLabel, ModuleFill3}, {EdgeLabel, ModuleFill4}, {EdgeLabel, ModuleFill5},
    {ModuleTitle, ModuleFill0}, {ModuleTitle, ModuleFill1}, {ModuleTitle, ModuleFill2}, {ModuleTitle, ModuleFill3},
    {ModuleTitle, ModuleFill4}, {ModuleTitle, ModuleFill5}, {ModuleSubtitle, ModuleFill0},
    {ModuleSubtitle, ModuleFill1}, {ModuleSubtitle, ModuleFill2}, {ModuleSubtitle, ModuleFill3},
    {ModuleSubtitle, ModuleFill4}, {ModuleSubtitle, ModuleFill5}, {StubText, StubFill},
    {PlotLabel, PlotBackground}, {PlotLabel, Panel}, {MarkInk, NanMark}, {MarkInk, InfMark},
    {DiffAdded, Base}, {DiffRemoved, Base}, {DiffChanged, Base}, {DiffMoved, Base},
};
// clang-format on

QColor fromValue(quint32 value) { return value > 0xffffff ? QColor::fromRgba(value) : QColor::fromRgb(value); }

double luminance(const QColor& color) {
    const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

}  // namespace

std::span<const ColorRow> colorTable() { return kColors; }
std::span<const TextPair> textPairs() { return kTextPairs; }

QColor color(ColorRole role, Scheme scheme) {
    const ColorRow& row = kColors[static_cast<std::size_t>(role)];
    switch (scheme) {
        case Scheme::Dark: return fromValue(row.dark);
        case Scheme::HighContrast: return fromValue(row.highContrast);
        case Scheme::Light: break;
    }
    return fromValue(row.light);
}

QColor moduleFill(int depth, Scheme scheme) {
    const int first = static_cast<int>(ModuleFill0);
    const int last = static_cast<int>(ModuleFill5) - first;
    const int step = depth <= last ? std::max(depth, 0) : last - (depth - last) % 2;
    return color(static_cast<ColorRole>(first + step), scheme);
}

CategoryColors categoryColors(OpCategory category, Scheme scheme) {
    const auto& values = kCategories[static_cast<std::size_t>(category)].values[static_cast<int>(scheme)];
    return {fromValue(values[0]), fromValue(values[1]), fromValue(values[2])};
}

OpCategory categoryFromKey(QStringView key) {
    for (const CategoryRow& row : kCategories)
        if (key == QLatin1String(row.key)) return row.category;
    return OpCategory::Unknown;
}

QLatin1String categoryKey(OpCategory category) {
    return QLatin1String(kCategories[static_cast<std::size_t>(category)].key);
}

QString categoryTitle(OpCategory category) {
    return QString::fromLatin1(kCategories[static_cast<std::size_t>(category)].title);
}

double contrast(const QColor& a, const QColor& b) {
    const double la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

}  // namespace sonde::theme
