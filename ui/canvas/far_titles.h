#pragma once

#include <QRectF>
#include <QString>

#include <functional>
#include <unordered_map>
#include <vector>

#include "ui/canvas/item_painter.h"
#include "ui/canvas/jump_names.h"
#include "ui/canvas/scene_index.h"

namespace sonde::canvas {

/// The name of a box in letters of constant size on the screen, which is what is read far out.
struct FarTitle {
    QRectF rect;  ///< scene units; empty if there is no place
    QString text;
    double factor = 1;  ///< of the size of letters
    bool coversNodes = false;
};

/// Places the names of boxes for pictures that are far out: "layer3 · 6 blocks". Within the box wherever there is room,
/// off its nodes and the names of boxes around, without its count and smaller if need be; else beside it, where nothing
/// else is and the edge of the picture does not cut it; over its nodes only if there is no other place. Never on a name
/// at the end of a line between columns. Names of boxes around have precedence, then earlier ones. What is placed
/// depends on the scale alone, whatever part of the picture is painted. Remembers texts, and the places of one scale;
/// used on one thread.
class FarTitles {
  public:
    /// `jumpNames`: the places of names at the ends of lines, for a scale; null if there are none.
    using JumpNames = std::function<const std::vector<JumpName>&(double scale)>;
    FarTitles(const SceneIndex& index, const ItemPainter& items, JumpNames jumpNames = {});

    /// Those in `area` (scene units). Linear in the boxes of the scene for a new scale, of few boxes; where there are
    /// many, in those in the area, and all names are within their boxes.
    std::vector<FarTitle> within(const QRectF& area, double scale);

    /// What is seen where the scene is fitted, and at which scale: names beside boxes are not cut by its edge. Without
    /// it they may be anywhere beside the scene.
    void setWholeView(const QRectF& area, double scale);

  private:
    struct Text {
        QString title, last, facts;  ///< whole name, its last part, " · 6 blocks"
        bool isRepeated = false;
    };
    const Text& textOf(layout::ItemId id);
    bool isTitled(layout::ItemId id) const;
    double widthOf(const QString& text) const;
    QString shortened(const Text& text, double width) const;
    QString withFacts(const Text& text, double width) const;
    const FarTitle& inside(layout::ItemId id);
    FarTitle placedInside(layout::ItemId id, const std::vector<QRectF>& taken);
    FarTitle placedAnywhere(layout::ItemId id, const std::vector<QRectF>& taken, double largest);
    FarTitle placedBeside(layout::ItemId id);
    std::size_t nodesUnder(const QRectF& rect, layout::ItemId id) const;
    QRectF room() const;
    bool isOffItems(const QRectF& rect, layout::ItemId id) const;
    bool isOffNames(const QRectF& rect) const;
    double roomAbove(layout::ItemId id);
    void useScale(double scale);
    void placeAll();

    const SceneIndex& m_index;
    const ItemPainter& m_items;
    JumpNames m_jumpNames;
    std::vector<layout::ItemId> m_boxes;  ///< that may have a title
    std::unordered_map<std::uint32_t, Text> m_texts;
    std::unordered_map<std::uint32_t, double> m_rooms;  ///< of open boxes, to the first of what is in them
    QRectF m_wholeView;                                 ///< see setWholeView()
    double m_wholeScale = 0;
    double m_scale = 0;                                     ///< of what follows
    std::vector<QRectF> m_names;                            ///< of lines, from top to bottom; all of one height
    std::unordered_map<std::uint32_t, FarTitle> m_insides;  ///< as asked for
    std::vector<FarTitle> m_all;
};

}  // namespace sonde::canvas
