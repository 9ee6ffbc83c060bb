#include "ui/canvas/canvas_interaction.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/canvas/canvas_menu.h"
#include "ui/canvas/item_text.h"
#include "ui/canvas/mark_text.h"

namespace sonde::canvas {

using layout::ItemId;
using layout::ItemKind;

namespace {

constexpr double kEdgeReach = 5;  ///< pixels beside an edge that still hit it

}  // namespace

bool CanvasInteraction::isBackground(ItemId item) const { return !item || m_parts.view.scene()->item(item).what.open; }

void CanvasInteraction::forgetHover() {
    m_hoverItem = {};
    m_hoverEdge = -1;
}

std::optional<CanvasInteraction::Box> CanvasInteraction::box() const {
    if (m_drag != Drag::SelectBox && m_drag != Drag::ZoomBox) return {};
    return Box{QRectF(m_pressPixel, m_lastPixel).normalized().toRect(), m_drag == Drag::ZoomBox};
}

int CanvasInteraction::edgeAtPixel(QPointF pixel) const {
    if (!m_parts.view.painter() || m_parts.view.isChanging() || detailAt(m_parts.view.camera().scale) == Detail::Block)
        return -1;
    return m_parts.view.painter()->index().edgeAt(m_parts.view.toScene(pixel),
                                                  kEdgeReach / m_parts.view.camera().scale);
}

bool CanvasInteraction::onToggle(ItemId id, QPointF pixel) const {
    const layout::SceneItem& item = m_parts.view.scene()->item(id);
    if (!Card::hasToggle(item.what) || detailAt(m_parts.view.camera().scale) < Detail::Full) return false;
    return Card::toggleRect(item.rect).adjusted(-3, -3, 3, 3).contains(m_parts.view.toScene(pixel));
}

void CanvasInteraction::press(QMouseEvent* event) {
    m_parts.view.stopFlight();
    m_pressPixel = m_lastPixel = event->position();
    m_pressButton = event->button();
    m_dragCentre = m_parts.view.camera().centre;
    if (!m_parts.view.painter()) return;
    if (event->button() == Qt::MiddleButton) {
        m_drag = Drag::Pan;
        m_parts.widget.setCursor(Qt::ClosedHandCursor);
    } else if (event->button() == Qt::LeftButton) {
        if (event->modifiers() & Qt::ShiftModifier) m_drag = Drag::SelectBox;
        else if (event->modifiers() & Qt::ControlModifier) m_drag = Drag::ZoomBox;
        else m_drag = Drag::Pressed;
    }
}

void CanvasInteraction::move(QMouseEvent* event) {
    const QPointF pixel = event->position();
    switch (m_drag) {
        case Drag::None: hoverAt(pixel); break;
        case Drag::Pressed:
            if ((pixel - m_pressPixel).manhattanLength() < QApplication::startDragDistance()) break;
            m_drag = Drag::Pan;
            m_parts.widget.setCursor(Qt::ClosedHandCursor);
            [[fallthrough]];
        case Drag::Pan:
            m_parts.view.centreOn(m_dragCentre - (pixel - m_pressPixel) / m_parts.view.camera().scale);
            break;
        case Drag::SelectBox:
        case Drag::ZoomBox: m_parts.widget.update(); break;
    }
    m_lastPixel = pixel;
}

void CanvasInteraction::release(QMouseEvent* event) {
    if (event->button() != m_pressButton) return;
    const Drag drag = std::exchange(m_drag, Drag::None);
    m_lastPixel = event->position();
    m_parts.widget.unsetCursor();
    m_parts.widget.update();
    if (!m_parts.view.painter() || drag == Drag::Pan || drag == Drag::None) return;
    const QRectF box = QRectF(m_pressPixel, m_lastPixel).normalized();
    const bool dragged = (m_lastPixel - m_pressPixel).manhattanLength() >= QApplication::startDragDistance();
    if (drag != Drag::Pressed && dragged) finishBox(box, drag);
    else clickAt(m_lastPixel, event->modifiers());
}

void CanvasInteraction::finishBox(const QRectF& pixels, Drag drag) {
    const QRectF area(m_parts.view.toScene(pixels.topLeft()), m_parts.view.toScene(pixels.bottomRight()));
    if (drag == Drag::ZoomBox) {
        m_parts.view.flyTo(Camera::fitting(area, m_parts.view.size(), 0, Camera::kMaxScale));
        return;
    }
    std::vector<graph::NodeId> nodes;
    for (const std::uint32_t id : m_parts.view.painter()->index().within(area).items) {
        const layout::SceneItem& item = m_parts.view.scene()->items[id];
        if (item.what.open || item.what.kind == ItemKind::Stub) continue;
        if (const graph::NodeId node = nodeOf(m_parts.context.model().graph(), item.what)) nodes.push_back(node);
    }
    m_parts.context.navigation().selectMany(nodes);
}

const JumpName* CanvasInteraction::nameAtPixel(QPointF pixel) const {
    if (!m_parts.view.painter() || m_parts.view.isChanging()) return nullptr;
    return m_parts.view.painter()->jumpNameAt(m_parts.view.toScene(pixel), m_parts.view.camera().scale);
}

void CanvasInteraction::clickAt(QPointF pixel, Qt::KeyboardModifiers modifiers) {
    if (const JumpName* name = nameAtPixel(pixel)) {
        // To where the line goes on, as large as it is here, with what is named there selected.
        const Camera there{name->other, m_parts.view.camera().scale};
        m_parts.navigation.selectItem(name->item);
        m_parts.view.flyTo(there);
        return;
    }
    const ItemId item = m_parts.view.itemAt(pixel);
    const bool background = isBackground(item);
    if (item && onToggle(item, pixel)) {
        m_parts.view.setCurrent(item);
        m_parts.navigation.toggleItem(item);
        return;
    }
    const int edge = background ? edgeAtPixel(pixel) : -1;
    if (edge >= 0) {
        const layout::SceneEdge& hit = m_parts.view.scene()->edges[static_cast<std::size_t>(edge)];
        if (modifiers & Qt::AltModifier) {
            // To the end that is farther from here: the other one is likely on the screen.
            const auto far = [&](const layout::Point& end) {
                return (toQt(end) - m_parts.view.toScene(pixel)).manhattanLength();
            };
            const ItemId other = far(hit.path.start()) > far(hit.path.end()) ? hit.from : hit.to;
            m_parts.navigation.selectItem(other);
            m_parts.navigation.showItem(other);
        } else if (!hit.values.empty()) {
            m_parts.context.navigation().select(hit.values.front());
        }
        return;
    }
    if (!item) {
        m_parts.navigation.clearSelection();
        return;
    }
    if (m_parts.view.scene()->item(item).what.kind == ItemKind::Stub && (modifiers & Qt::AltModifier)) {
        m_parts.navigation.jump(item);
        return;
    }
    if (modifiers & Qt::ControlModifier) {
        // One more node, or one less.
        std::vector<graph::NodeId> nodes = m_parts.context.navigation().selectedNodes();
        const graph::NodeId node = nodeOf(m_parts.context.model().graph(), m_parts.view.scene()->item(item).what);
        if (node && std::erase(nodes, node) == 0) nodes.push_back(node);
        if (node) m_parts.context.navigation().selectMany(nodes);
        return;
    }
    m_parts.navigation.selectItem(item);
}

void CanvasInteraction::doubleClick(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !m_parts.view.painter()) return;
    const ItemId item = m_parts.view.itemAt(event->position());
    const bool background = isBackground(item);
    const int edge = background ? edgeAtPixel(event->position()) : -1;
    if (edge >= 0) {
        clickAt(event->position(), Qt::AltModifier);
    } else if (item && onToggle(item, event->position())) {
        clickAt(event->position(), Qt::NoModifier);  // a quick second click on the button is a second click
    } else if (item && m_parts.view.scene()->item(item).what.kind == ItemKind::Stub) {
        m_parts.navigation.jump(item);
    } else if (item) {
        m_parts.navigation.selectItem(item);
        m_parts.navigation.toggleItem(item);
    }
}

void CanvasInteraction::wheel(QWheelEvent* event) {
    if (!m_parts.view.painter()) return;
    m_parts.view.stopFlight();
    const bool zoom = m_wheelZooms != bool(event->modifiers() & Qt::ControlModifier);
    Camera camera = m_parts.view.camera();
    if (zoom) {
        const double delta = event->pixelDelta().isNull() ? event->angleDelta().y() : 2.0 * event->pixelDelta().y();
        camera.zoomAbout(event->position(), m_parts.view.size(), std::pow(1.0018, std::clamp(delta, -480.0, 480.0)));
    } else {
        QPointF delta =
            event->pixelDelta().isNull() ? QPointF(event->angleDelta()) / 120.0 * 60.0 : QPointF(event->pixelDelta());
        if (event->modifiers() & Qt::ShiftModifier && delta.x() == 0) delta = {delta.y(), 0};
        camera.centre -= delta / camera.scale;
    }
    m_parts.view.setCamera(camera);
    event->accept();
}

void CanvasInteraction::hoverAt(QPointF pixel) {
    const ItemId item = m_parts.view.itemAt(pixel);
    const bool background = isBackground(item);
    const int edge = background ? edgeAtPixel(pixel) : -1;
    const bool hand = edge >= 0 || nameAtPixel(pixel) ||
                      (item && (onToggle(item, pixel) || m_parts.view.scene()->item(item).what.kind == ItemKind::Stub));
    m_parts.widget.setCursor(hand ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (item == m_hoverItem && edge == m_hoverEdge) return;
    m_hoverItem = item;
    m_hoverEdge = edge;
    m_parts.context.navigation().hover(item && !background ? m_parts.navigation.selectionOf(item)
                                                           : context::Selection{});
    m_parts.widget.update();
}

void CanvasInteraction::leave() {
    m_hoverItem = {};
    m_hoverEdge = -1;
    m_parts.context.navigation().hover({});
    m_parts.widget.update();
}

QString CanvasInteraction::failureText(graph::ExprId expr) const {
    if (!expr.valid()) return {};
    const graph::ModuleTree& tree = *m_parts.context.model().document()->modules;
    const auto module = tree.find(m_parts.context.model().graph().expr(expr).target);
    return module ? tr("Could not be traced: %1").arg(QString::fromStdString(tree.module(*module).failure)) : QString();
}

void CanvasInteraction::showToolTip(const QHelpEvent* help) {
    const ItemId item = m_parts.view.itemAt(help->pos());
    const bool background = isBackground(item);
    const int edge = background ? edgeAtPixel(help->pos()) : -1;
    QString text;
    if (const JumpName* name = nameAtPixel(help->pos())) {
        text = tr("Go to where this line goes on: %1").arg(name->text);
        if (name->value)
            text += QLatin1Char('\n') +
                    QString::fromStdString(m_parts.context.model().graph().node(name->value).name).left(200) + u' ' +
                    typeText(m_parts.context.model().graph().node(name->value));
    } else if (edge >= 0) {
        const layout::SceneEdge& hit = m_parts.view.scene()->edges[static_cast<std::size_t>(edge)];
        for (std::size_t i = 0; i < std::min<std::size_t>(hit.values.size(), 8); ++i) {
            const graph::Node& node = m_parts.context.model().graph().node(hit.values[i]);
            text += (i ? QStringLiteral("\n") : QString()) + QString::fromStdString(node.name).left(200) + u' ' +
                    typeText(node);
        }
    } else if (item && !background) {
        text = itemFacts(m_parts.context.model().graph(), m_parts.view.scene()->item(item));
        if (m_parts.marks.now().of(item) & kUntraced)
            text += QLatin1Char('\n') + failureText(m_parts.view.scene()->item(item).what.expr);
    }
    // Of an open box, whose marks are on its edge, these alone.
    if (edge < 0 && item) {
        QStringList lines = blockTexts(m_parts.marks.now().blocksOf(item));
        if (m_parts.marks.now().of(item) & (kBreak | kNote | kEdited))
            lines << markTexts(m_parts.context, *m_parts.view.scene(), item);
        const QString marks = lines.join(QLatin1Char('\n'));
        text += (text.isEmpty() || marks.isEmpty() ? QString() : QStringLiteral("\n")) + marks;
    }
    // Names of a file are text, never markup.
    if (text.isEmpty()) QToolTip::hideText();
    else
        QToolTip::showText(
            help->globalPos(),
            QStringLiteral("<p style='white-space:pre'>") + text.toHtmlEscaped() + QStringLiteral("</p>"),
            &m_parts.widget);
}

bool CanvasInteraction::key(const QKeyEvent* event) {
    const Qt::KeyboardModifiers modifiers = event->modifiers() & ~Qt::KeypadModifier;
    if (modifiers == Qt::NoModifier) {
        switch (event->key()) {
            case Qt::Key_Up: m_parts.navigation.walkUp(); return true;
            case Qt::Key_Down: m_parts.navigation.walkDown(); return true;
            case Qt::Key_Left: m_parts.navigation.walkLeft(); return true;
            case Qt::Key_Right: m_parts.navigation.walkRight(); return true;
            case Qt::Key_Return:
            case Qt::Key_Enter: {
                const ItemId item = m_parts.view.currentItem();
                if (item && m_parts.view.scene()->item(item).what.kind == ItemKind::Stub) m_parts.navigation.jump(item);
                else m_parts.navigation.toggleCurrent();
                return true;
            }
            case Qt::Key_Space: m_parts.navigation.fit(); return true;
            case Qt::Key_Escape:
                m_parts.context.navigation().selection().isNone() ? m_parts.state.showEverything()
                                                                  : m_parts.navigation.clearSelection();
                return true;
            default: break;
        }
    }
    return false;
}

void CanvasInteraction::openMenu(const QContextMenuEvent* event) {
    if (!m_parts.view.painter()) return;
    m_parts.navigation.activate();
    if (event->reason() == QContextMenuEvent::Mouse) {
        const ItemId item = m_parts.view.itemAt(event->pos());
        const bool background = isBackground(item);
        const int edge = background ? edgeAtPixel(event->pos()) : -1;
        if (edge >= 0) clickAt(event->pos(), Qt::NoModifier);
        else if (item && item != m_parts.view.currentItem()) m_parts.navigation.selectItem(item);
    }
    auto* menu = new QMenu(&m_parts.widget);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    CanvasMenu(m_parts).fill(*menu);
    Q_EMIT menuAboutToShow(menu);
    const ItemId current = m_parts.view.currentItem();
    const bool byKey = event->reason() != QContextMenuEvent::Mouse && current;
    menu->popup(byKey ? m_parts.widget.mapToGlobal(m_parts.view.itemRect(current).center().toPoint())
                      : event->globalPos());
}

}  // namespace sonde::canvas
