#pragma once

#include <QColor>
#include <QLatin1String>
#include <QStringView>

#include <span>

namespace sonde::theme {

/// The set of values that a role's colour is taken from. A picture that is exported names its scheme; the window takes
/// the one that the user's choice and the system give (see Theme).
enum class Scheme { Light, Dark, HighContrast };

/// What a colour is for. Nothing outside this folder names a colour in any other way.
// clang-format off
enum class ColorRole {
    // window and controls
    Window, Panel, Base, AlternateRow, Raised, Hover, Pressed, Border, StrongBorder,
    Text, MutedText, DisabledText, Accent, AccentText, AccentSoft, AccentSoftText, Link, FocusRing,
    ToolTip, ToolTipText, ScrollHandle, ScrollHandleHover,
    // severities: the text or mark, and the background of a banner that carries ordinary Text
    Info, Success, Warning, Error, InfoBackground, SuccessBackground, WarningBackground, ErrorBackground,
    // canvas
    Canvas, CanvasGrid, SelectionOutline, HoverOutline, WatchMark, WatchMarkText, EndMark, EndMarkText,
    CurrentMark, ErrorMark, WarningMark, SearchHit, SearchHitText, DimVeil, DimmedText,
    Edge, EdgeHighlight, EdgeOfInput, EdgeOfOutput, EdgeLabel, EdgeLabelBackground,
    ModuleFill0, ModuleFill1, ModuleFill2, ModuleFill3, ModuleFill4, ModuleFill5,
    ModuleStroke, ModuleTitle, ModuleSubtitle, StubFill, StubStroke, StubText, NodeSubtext,
    MinimapBackground, MinimapNode, MinimapView, MinimapVeil,
    // values
    PlotBackground, PlotBar, PlotBarHover, PlotAxis, PlotGrid, PlotLabel, NanMark, InfMark, ReadMark, WriteMark, MarkInk, CellGrid,
    DiffAdded, DiffRemoved, DiffChanged, DiffMoved, WhyMark,
    Count
};
// clang-format on

/// One row of the colour table. Values are 0xRRGGBB, or 0xAARRGGBB where the colour lets through what lies under it.
struct ColorRow {
    ColorRole role;
    const char* name;
    quint32 light, dark, highContrast;
};

/// The rows in the order of ColorRole.
std::span<const ColorRow> colorTable();

/// The colour of a role in one scheme.
QColor color(ColorRole role, Scheme scheme);

/// The background of a module box at a nesting depth; 0 is the outermost. Depths beyond the table alternate its last
/// two.
QColor moduleFill(int depth, Scheme scheme);

/// What an operator is, as far as its colour goes. The classes are those that Netron's users know.
// clang-format off
enum class OpCategory {
    Layer, Activation, Pool, Normalisation, Transform, Dropout, Shape, Tensor, Data, Quantisation, Attention,
    Elementwise, Reduction, Control, Constant, Input, Output, Unknown,
    Count
};
// clang-format on

struct CategoryColors {
    QColor fill, stroke, text;
};

CategoryColors categoryColors(OpCategory category, Scheme scheme);

/// "layer", "activation", …: the key by which the operator table names a category. An unknown key gives Unknown.
OpCategory categoryFromKey(QStringView key);
QLatin1String categoryKey(OpCategory category);
/// The category's name for a legend: "Layer", "Activation", …
QString categoryTitle(OpCategory category);

/// A text role and a background that it is written on, for which 4.5:1 is promised in every scheme.
struct TextPair {
    ColorRole text, background;
};
std::span<const TextPair> textPairs();

/// Contrast of two opaque colours, 1 to 21 (WCAG 2.1, "contrast ratio").
double contrast(const QColor& a, const QColor& b);

}  // namespace sonde::theme
