#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QToolTip>

#include "ui/canvas/canvas_overlays.h"
#include "ui/canvas/canvas_transition.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/context/count_text.h"
#include "ui/context/problems.h"
#include "ui/theme/icon.h"

namespace sonde::canvas {

using layout::ItemId;
using layout::ItemKind;

namespace {

constexpr double kEdgeReach = 5;  ///< pixels beside an edge that still hit it

}  // namespace

ItemId GraphCanvas::itemAtPixel(QPointF pixel) const {
    return m_painter && !m_transition ? m_painter->index().itemAt(scenePlace(pixel)) : ItemId();
}

int GraphCanvas::edgeAtPixel(QPointF pixel) const {
    if (!m_painter || m_transition || detailAt(m_camera.scale) == Detail::Block) return -1;
    return m_painter->index().edgeAt(scenePlace(pixel), kEdgeReach / m_camera.scale);
}

bool GraphCanvas::onToggle(ItemId id, QPointF pixel) const {
    const layout::SceneItem& item = scene()->item(id);
    if (!Card::hasToggle(item.what) || detailAt(m_camera.scale) < Detail::Full) return false;
    return Card::toggleRect(item.rect).adjusted(-3, -3, 3, 3).contains(scenePlace(pixel));
}

void GraphCanvas::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    activate();
}

void GraphCanvas::mousePressEvent(QMouseEvent* event) {
    activate();
    if (m_flight) m_flight->stop();
    m_pressPixel = m_lastPixel = event->position();
    m_pressButton = event->button();
    m_dragCentre = m_camera.centre;
    if (!m_painter) return;
    if (event->button() == Qt::MiddleButton) {
        m_drag = Drag::Pan;
        setCursor(Qt::ClosedHandCursor);
    } else if (event->button() == Qt::LeftButton) {
        if (event->modifiers() & Qt::ShiftModifier) m_drag = Drag::SelectBox;
        else if (event->modifiers() & Qt::ControlModifier) m_drag = Drag::ZoomBox;
        else m_drag = Drag::Pressed;
    }
}

void GraphCanvas::mouseMoveEvent(QMouseEvent* event) {
    const QPointF pixel = event->position();
    switch (m_drag) {
        case Drag::None: hoverAt(pixel); break;
        case Drag::Pressed:
            if ((pixel - m_pressPixel).manhattanLength() < QApplication::startDragDistance()) break;
            m_drag = Drag::Pan;
            setCursor(Qt::ClosedHandCursor);
            [[fallthrough]];
        case Drag::Pan: centreOn(m_dragCentre - (pixel - m_pressPixel) / m_camera.scale); break;
        case Drag::SelectBox:
        case Drag::ZoomBox: update(); break;
    }
    m_lastPixel = pixel;
}

void GraphCanvas::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != m_pressButton) return;
    const Drag drag = std::exchange(m_drag, Drag::None);
    m_lastPixel = event->position();
    unsetCursor();
    update();
    if (!m_painter || drag == Drag::Pan || drag == Drag::None) return;
    const QRectF box = QRectF(m_pressPixel, m_lastPixel).normalized();
    const bool dragged = (m_lastPixel - m_pressPixel).manhattanLength() >= QApplication::startDragDistance();
    if (drag != Drag::Pressed && dragged) finishBox(box, drag);
    else clickAt(m_lastPixel, event->modifiers());
}

void GraphCanvas::finishBox(const QRectF& pixels, Drag drag) {
    const QRectF area(scenePlace(pixels.topLeft()), scenePlace(pixels.bottomRight()));
    if (drag == Drag::ZoomBox) {
        flyTo(Camera::fitting(area, size(), 0, Camera::kMaxScale));
        return;
    }
    std::vector<graph::NodeId> nodes;
    for (const std::uint32_t id : m_painter->index().within(area).items) {
        const layout::SceneItem& item = scene()->items[id];
        if (item.what.open || item.what.kind == ItemKind::Stub) continue;
        if (const graph::NodeId node = nodeOf(m_context.graph(), item.what)) nodes.push_back(node);
    }
    m_context.selectMany(nodes);
}

void GraphCanvas::clickAt(QPointF pixel, Qt::KeyboardModifiers modifiers) {
    const ItemId item = itemAtPixel(pixel);
    const bool ground = !item || scene()->item(item).what.open;
    if (item && onToggle(item, pixel)) {
        setCurrent(item);
        toggleItem(item);
        return;
    }
    const int edge = ground ? edgeAtPixel(pixel) : -1;
    if (edge >= 0) {
        const layout::SceneEdge& hit = scene()->edges[static_cast<std::size_t>(edge)];
        if (modifiers & Qt::AltModifier) {
            // To the end that is farther from here: the other one is likely on the screen.
            const auto far = [&](const layout::Point& end) {
                return (toQt(end) - scenePlace(pixel)).manhattanLength();
            };
            const ItemId other = far(hit.path.start()) > far(hit.path.end()) ? hit.from : hit.to;
            selectItem(other);
            showItem(other);
        } else if (!hit.values.empty()) {
            m_context.select(hit.values.front());
        }
        return;
    }
    if (!item) {
        clearSelection();
        return;
    }
    if (scene()->item(item).what.kind == ItemKind::Stub && (modifiers & Qt::AltModifier)) {
        jump(item);
        return;
    }
    if (modifiers & Qt::ControlModifier) {
        // One more node, or one less.
        std::vector<graph::NodeId> nodes = m_context.selectedNodes();
        const graph::NodeId node = nodeOf(m_context.graph(), scene()->item(item).what);
        if (node && std::erase(nodes, node) == 0) nodes.push_back(node);
        if (node) m_context.selectMany(nodes);
        return;
    }
    selectItem(item);
}

void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !m_painter) return;
    const ItemId item = itemAtPixel(event->position());
    const bool ground = !item || scene()->item(item).what.open;
    const int edge = ground ? edgeAtPixel(event->position()) : -1;
    if (edge >= 0) {
        clickAt(event->position(), Qt::AltModifier);
    } else if (item && onToggle(item, event->position())) {
        clickAt(event->position(), Qt::NoModifier);  // a quick second click on the button is a second click
    } else if (item && scene()->item(item).what.kind == ItemKind::Stub) {
        jump(item);
    } else if (item) {
        selectItem(item);
        toggleItem(item);
    }
}

void GraphCanvas::wheelEvent(QWheelEvent* event) {
    if (!m_painter) return;
    if (m_flight) m_flight->stop();
    const bool zoom = m_wheelZooms != bool(event->modifiers() & Qt::ControlModifier);
    Camera camera = m_camera;
    if (zoom) {
        const double delta = event->pixelDelta().isNull() ? event->angleDelta().y() : 2.0 * event->pixelDelta().y();
        camera.zoomAbout(event->position(), size(), std::pow(1.0018, std::clamp(delta, -480.0, 480.0)));
    } else {
        QPointF delta =
            event->pixelDelta().isNull() ? QPointF(event->angleDelta()) / 120.0 * 60.0 : QPointF(event->pixelDelta());
        if (event->modifiers() & Qt::ShiftModifier && delta.x() == 0) delta = {delta.y(), 0};
        camera.centre -= delta / camera.scale;
    }
    setCamera(camera);
    event->accept();
}

void GraphCanvas::hoverAt(QPointF pixel) {
    const ItemId item = itemAtPixel(pixel);
    const bool ground = !item || scene()->item(item).what.open;
    const int edge = ground ? edgeAtPixel(pixel) : -1;
    const bool hand = edge >= 0 || (item && (onToggle(item, pixel) || scene()->item(item).what.kind == ItemKind::Stub));
    setCursor(hand ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (item == m_hoverItem && edge == m_hoverEdge) return;
    m_hoverItem = item;
    m_hoverEdge = edge;
    m_context.hover(item && !ground ? selectionOf(item) : context::Selection{});
    update();
}

void GraphCanvas::leaveEvent(QEvent*) {
    m_hoverItem = {};
    m_hoverEdge = -1;
    m_context.hover({});
    update();
}

QString GraphCanvas::failureText(graph::ExprId expr) const {
    if (!expr.valid()) return {};
    const graph::ModuleTree& tree = *m_context.document()->modules;
    const auto module = tree.find(m_context.graph().expr(expr).target);
    return module ? tr("Could not be traced: %1").arg(QString::fromStdString(tree.module(*module).failure)) : QString();
}

bool GraphCanvas::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && m_painter) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const ItemId item = itemAtPixel(help->pos());
        const bool ground = !item || scene()->item(item).what.open;
        const int edge = ground ? edgeAtPixel(help->pos()) : -1;
        QString text;
        if (edge >= 0) {
            const layout::SceneEdge& hit = scene()->edges[static_cast<std::size_t>(edge)];
            for (std::size_t i = 0; i < std::min<std::size_t>(hit.values.size(), 8); ++i) {
                const graph::Node& node = m_context.graph().node(hit.values[i]);
                text += (i ? QStringLiteral("\n") : QString()) + QString::fromStdString(node.name).left(200) + u' ' +
                        typeText(node);
            }
        } else if (item && !ground) {
            text = itemFacts(m_context.graph(), scene()->item(item));
            if (m_marks.of(item) & kUntraced) text += QLatin1Char('\n') + failureText(scene()->item(item).what.expr);
        }
        // Names of a file are text, never markup.
        if (text.isEmpty()) QToolTip::hideText();
        else
            QToolTip::showText(
                help->globalPos(),
                QStringLiteral("<p style='white-space:pre'>") + text.toHtmlEscaped() + QStringLiteral("</p>"), this);
        return true;
    }
    return QWidget::event(event);
}

void GraphCanvas::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_tilesComplete = false;
    if (m_painter && event->oldSize().isValid() && !event->oldSize().isEmpty()) {
        // What was in the middle stays there.
        const ItemId current = currentItem();
        const bool seen =
            current && QRectF(QPointF(), QSizeF(event->oldSize())).intersects(itemRectIn(current, event->oldSize()));
        Q_EMIT cameraChanged();
        // But what is selected stays in view when the window gets smaller. Later, as sizes may come and go while panels
        // are laid out.
        if (seen && !m_keepInView.isActive()) m_keepInView.start();
    }
    m_overlays->arrange();
    placeAgain();
}

QRectF GraphCanvas::itemRectIn(ItemId item, QSize size) const {
    const QRectF rect = toQt(scene()->item(item).rect);
    return {m_camera.toPixel(rect.topLeft(), size), rect.size() * m_camera.scale};
}

/// Moves the camera as little as needed; what is too large to be seen whole shows a part.
void GraphCanvas::bringIntoView(const QRectF& rect) {
    const double margin = 12 / m_camera.scale;
    const QRectF view = m_camera.visible(size()).adjusted(margin, margin, -margin, -margin);
    const auto shift = [](double low, double high, double from, double to) {
        if (high - low > to - from) return low > to || high < from ? low - from : 0.0;
        return low < from ? low - from : high > to ? high - to : 0.0;
    };
    m_camera.centre += QPointF(shift(rect.left(), rect.right(), view.left(), view.right()),
                               shift(rect.top(), rect.bottom(), view.top(), view.bottom()));
}

void GraphCanvas::keyPressEvent(QKeyEvent* event) {
    const Qt::KeyboardModifiers modifiers = event->modifiers() & ~Qt::KeypadModifier;
    if (modifiers == Qt::NoModifier) {
        switch (event->key()) {
            case Qt::Key_Up: walkUp(); return;
            case Qt::Key_Down: walkDown(); return;
            case Qt::Key_Left: walkLeft(); return;
            case Qt::Key_Right: walkRight(); return;
            case Qt::Key_Return:
            case Qt::Key_Enter: {
                const ItemId item = currentItem();
                if (item && scene()->item(item).what.kind == ItemKind::Stub) jump(item);
                else toggleCurrent();
                return;
            }
            case Qt::Key_Space: fit(); return;
            case Qt::Key_Escape: m_context.selection().isNone() ? m_context.showEverything() : clearSelection(); return;
            default: break;
        }
    }
    QWidget::keyPressEvent(event);
}

void GraphCanvas::buildMenu(QMenu& menu) {
    const ItemId item = currentItem();
    const graph::NodeId node = currentNode();
    const auto add = [&](const QString& icon, const QString& text, auto act) {
        QAction* action = menu.addAction(theme::icon(icon), text);
        connect(action, &QAction::triggered, this, act);
        return action;
    };
    if (node) {
        add(QStringLiteral("watch"), m_context.isWatched(node) ? tr("Clear &Watch Point") : tr("Set &Watch Point"),
            [this] { toggleWatch(); });
        add(QStringLiteral("end"), m_context.isEnd(node) ? tr("Clear &End Point") : tr("Set &End Point"),
            [this] { toggleEnd(); });
        add(QStringLiteral("run-to"), tr("Run to &Here"), [this, node] { m_context.runTo(node); });
        const bool isAccepted = m_context.problems().isAccepted(node);
        if (isAccepted || m_context.problems().counted(node))
            add(QStringLiteral("warning"), isAccepted ? tr("NaN and Inf Are a &Problem") : tr("&Accept NaN and Inf"),
                [this, node, isAccepted] { m_context.problems().setAccepted(node, !isAccepted); });
        menu.addSeparator();
    }
    if (item) {
        const layout::ItemDescription& what = scene()->item(item).what;
        if (what.expandable) {
            add(QStringLiteral("module"), what.open ? tr("&Collapse") : tr("E&xpand"), [this] { toggleCurrent(); });
            add(QStringLiteral("expand-all"), tr("Expand &All Inside"), [this] { expandAllInside(); });
            if (what.open)
                add(QStringLiteral("collapse-all"), tr("Collapse All &Inside"), [this] { collapseAllInside(); });
        }
        addRunMenu(menu);
        if (what.kind == ItemKind::Stub)
            add(QStringLiteral("link"), tr("Go to &Producer"), [this] { followCurrent(); });
        if (scene()->item(item).stubs > 0)
            add(QStringLiteral("link"), tr("Go to First &Stub"), [this] { followCurrent(); });
        if (scene()->item(item).parent) add(QStringLiteral("collapse"), tr("&Leave Module"), [this] { leaveModule(); });
        menu.addSeparator();
        QMenu* only = menu.addMenu(theme::icon(QStringLiteral("filter")), tr("Show &Only"));
        const auto show = [&](const QString& icon, const QString& text, auto act) {
            connect(only->addAction(theme::icon(icon), text), &QAction::triggered, this, act);
        };
        show(QStringLiteral("producer"), tr("&Upstream"), [this] { m_context.focusConeOfSelection(true, false); });
        show(QStringLiteral("consumer"), tr("&Downstream"), [this] { m_context.focusConeOfSelection(false, true); });
        show(QStringLiteral("link"), tr("&Both"), [this] { m_context.focusConeOfSelection(true, true); });
        if (m_context.selectedNodes().size() > 1)
            show(QStringLiteral("graph"), tr("&Paths Between"), [this] { m_context.focusPaths(); });
        show(QStringLiteral("node"), tr("&Selection"), [this] { m_context.isolateSelection(); });
        add(QStringLiteral("remove"), tr("&Hide"), [this] { m_context.hideSelection(); });
        const context::Selection marked = m_context.selection();
        add(QStringLiteral("bookmark"), m_context.isBookmarked(marked) ? tr("Clear Boo&kmark") : tr("Boo&kmark"),
            [this, marked] { m_context.toggleBookmark(marked); });
        menu.addSeparator();
        add(QStringLiteral("copy"), tr("Copy &Name"), [this] { copyName(); });
        const QString qualname = m_context.selection().qualname;
        if (!qualname.isEmpty())
            add(QStringLiteral("copy"), tr("Copy &Module Path"),
                [qualname] { QApplication::clipboard()->setText(qualname); });
        add(QStringLiteral("tree"), tr("Show in Module &Tree"),
            [this] { Q_EMIT revealInTreeRequested(m_context.selection()); });
        menu.addSeparator();
    }
    const int own = m_context.selection().isNone() ? -1 : m_context.graphOfModule(m_context.selection().qualname);
    if (own >= 0 && own != m_context.shownGraph())
        add(QStringLiteral("graph"), tr("Module's Own &Graph"), [this, own] { m_context.showGraph(own); });
    if (m_context.shownGraph() > 0)
        add(QStringLiteral("module"), tr("Whole &Model"), [this] { m_context.showGraph(0); });
    add(QStringLiteral("fit"), tr("&Fit"), [this] { fit(); });
    if (item) add(QStringLiteral("expand"), tr("Fit &Selection"), [this] { fitSelection(); });
    QAction* legend = add(QStringLiteral("info"), tr("Le&gend"), [this](bool on) { setLegendVisible(on); });
    legend->setCheckable(true);
    legend->setChecked(legendVisible());
}

/// Of a block that stands for equal ones, or in one: which is shown, and whether all are.
void GraphCanvas::addRunMenu(QMenu& menu) {
    const std::uint32_t run = m_context.runOf(m_context.selection());
    if (run == layout::Outline::kNoRun) return;
    const layout::Outline& outline = *m_context.outline();
    const std::vector<layout::GroupId>& blocks = outline.runs()[run].instances;
    if (!layout::isFolded(outline, m_context.view(m_number), run)) {
        connect(menu.addAction(theme::icon(QStringLiteral("collapse")),
                               tr("&Fold into One, \u00d7 %1").arg(context::countText(blocks.size()))),
                &QAction::triggered, this, [this, run] { m_context.setRunFolded(run, true); });
        return;
    }
    connect(menu.addAction(theme::icon(QStringLiteral("expand")),
                           tr("Draw &All %1").arg(context::countText(blocks.size()))),
            &QAction::triggered, this, [this, run] { m_context.setRunFolded(run, false); });
    QMenu* which = menu.addMenu(theme::icon(QStringLiteral("module")), tr("Show &Block"));
    constexpr std::size_t kMaxEntries = 60;  // more than fit on a screen; Ctrl+Page Down goes to all of them
    for (std::size_t i = 0; i < std::min(blocks.size(), kMaxEntries); ++i) {
        const std::string& qualname = m_context.graph().scope(outline.group(blocks[i]).scope).qualname;
        QAction* action =
            which->addAction(QString::fromStdString(qualname).left(80).replace(u'&', QStringLiteral("&&")));
        action->setCheckable(true);
        action->setChecked(i == layout::shownInstance(outline, m_context.view(m_number), run));
        connect(action, &QAction::triggered, this,
                [this, run, i] { m_context.showInstance(run, static_cast<std::uint32_t>(i)); });
    }
}

void GraphCanvas::contextMenuEvent(QContextMenuEvent* event) {
    if (!m_painter) return;
    activate();
    if (event->reason() == QContextMenuEvent::Mouse) {
        const ItemId item = itemAtPixel(event->pos());
        const bool ground = !item || scene()->item(item).what.open;
        const int edge = ground ? edgeAtPixel(event->pos()) : -1;
        if (edge >= 0) clickAt(event->pos(), Qt::NoModifier);
        else if (item && item != currentItem()) selectItem(item);
    }
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    buildMenu(*menu);
    Q_EMIT menuAboutToShow(menu);
    const ItemId current = currentItem();
    const bool byKey = event->reason() != QContextMenuEvent::Mouse && current;
    menu->popup(byKey ? mapToGlobal(itemRect(current).center().toPoint()) : event->globalPos());
}

}  // namespace sonde::canvas
