#include "ui/canvas/canvas_overlays.h"

#include <QLabel>
#include <QToolButton>

#include <algorithm>

#include "ui/canvas/graph_canvas.h"
#include "ui/canvas/legend.h"
#include "ui/canvas/overview_map.h"
#include "ui/models/node_text.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

namespace {

constexpr int kGap = 10;

QLabel* plate(QWidget* parent) {
    auto* label = new QLabel(parent);
    label->setAutoFillBackground(true);
    label->setMargin(4);
    label->setFrameStyle(QFrame::Box | QFrame::Plain);  // what it lies over looks covered and not cut off
    label->setTextFormat(Qt::RichText);
    label->hide();
    return label;
}

void restyle(QLabel* label) {
    QPalette palette = label->palette();
    palette.setColor(QPalette::Window, theme::color(theme::ColorRole::Canvas));
    palette.setColor(QPalette::WindowText, theme::color(theme::ColorRole::MutedText));
    palette.setColor(QPalette::Link, theme::color(theme::ColorRole::Link));
    label->setPalette(palette);
    label->setFont(theme::Theme::instance().smallFont());
}

}  // namespace

CanvasOverlays::CanvasOverlays(GraphCanvas& canvas)
    : QObject(&canvas), m_canvas(canvas), m_map(new OverviewMap(canvas)), m_legend(new Legend(&canvas)),
      m_path(plate(&canvas)), m_hidden(plate(&canvas)), m_close(new QToolButton(&canvas)) {
    m_close->setObjectName(QStringLiteral("closeCanvas"));
    m_close->setIcon(theme::icon(QStringLiteral("close")));
    m_close->setAutoFillBackground(true);
    m_close->setToolTip(tr("Close this canvas"));
    m_close->setAccessibleName(tr("Close this canvas"));
    m_close->setFocusPolicy(Qt::NoFocus);
    m_close->hide();
    connect(m_close, &QToolButton::clicked, &canvas, &GraphCanvas::closeRequested);
    // What is looked at changes the path, unless the selection says it.
    connect(&canvas, &GraphCanvas::cameraChanged, this, [this] {
        if (m_canvas.shownScope() != m_shownScope) refreshPath();
    });
    m_path->setAccessibleName(tr("Path of modules"));
    m_hidden->setAccessibleName(tr("What is hidden"));
    m_map->hide();
    m_legend->hide();
    connect(m_path, &QLabel::linkActivated, this, [this](const QString& link) {
        bool ok = false;
        const uint scope = link.toUInt(&ok);
        if (ok && m_canvas.m_context.hasModel() && scope < m_canvas.m_context.graph().scopeCount())
            m_canvas.m_context.navigateTo(m_canvas.m_context.selectionOf(graph::ScopeId(std::size_t{scope})));
    });
}

void CanvasOverlays::refresh() {
    const auto scene = m_canvas.scene();
    m_map->setVisible(m_overviewWanted && scene != nullptr);
    m_legend->setVisible(m_legendWanted && scene != nullptr);
    m_map->sceneChanged();
    m_legend->setScene(m_canvas.m_context.hasModel() ? &m_canvas.m_context.graph() : nullptr, scene.get(),
                       m_canvas.m_marks.coloring);
    refreshLegend();
    restyle(m_hidden);
    m_hidden->setVisible(!m_canvas.hiddenText().isEmpty());
    refreshPath();
    arrange();
}

void CanvasOverlays::refreshLegend() {
    std::uint16_t marks = 0;
    for (const std::uint16_t flags : m_canvas.m_marks.flags) marks |= flags;
    m_legend->setMarks(marks);
    arrange();
}

void CanvasOverlays::refreshPath() {
    restyle(m_path);
    QStringList parts;
    if (m_canvas.m_context.hasModel()) {
        const graph::InternalGraph& graph = m_canvas.m_context.graph();
        graph::ScopeId scope = m_shownScope = m_canvas.shownScope();
        // A hostile file may nest modules thousands deep; the innermost ones tell where one is.
        constexpr qsizetype kMost = 8;
        while (scope.valid() && parts.size() < kMost) {
            const graph::Scope& at = graph.scope(scope);
            const QString whole = models::shown(at.qualname.empty() ? graph.name : at.qualname);
            const QString tail = at.qualname.empty() ? whole : whole.mid(whole.lastIndexOf(u'.') + 1);
            // The colour stands in the text itself: a label keeps the link colour that it had when its text was set.
            parts.prepend(QStringLiteral("<a style='text-decoration:none; color:%3' href='%1'>%2</a>")
                              .arg(scope.value).arg(tail.left(40).toHtmlEscaped(), theme::color(theme::ColorRole::Link).name()));
            scope = at.parent;
        }
    }
    m_path->setText(parts.join(QStringLiteral(" › ")));
    m_path->setVisible(parts.size() > 1);
    arrange();
}

void CanvasOverlays::arrange() {
    const QSize size = m_canvas.size();
    m_map->resize(m_map->sizeHint());
    m_map->move(size.width() - m_map->width() - kGap, size.height() - m_map->height() - kGap);
    // In a small window the map would hide what it is a map of.
    m_map->setVisible(m_overviewWanted && m_canvas.scene() && size.width() > 4 * m_map->width() && size.height() > 2 * m_map->height());
    const QString hidden = m_canvas.hiddenText();
    const int room = size.width() - 2 * kGap - 2 * m_hidden->margin() - (m_map->isVisible() ? m_map->width() + kGap : 0);
    m_hidden->setText(m_hidden->fontMetrics().elidedText(hidden, Qt::ElideRight, std::max(room, 0)).toHtmlEscaped());
    m_hidden->setToolTip(hidden);
    m_hidden->adjustSize();
    m_hidden->move(kGap, size.height() - m_hidden->height() - kGap);
    constexpr int kRoomy = 480;
    m_legend->setCompact(size.height() < kRoomy);
    m_legend->resize(m_legend->sizeHint());
    m_legend->move(kGap, size.height() - m_legend->height() - kGap - (m_hidden->isVisible() ? m_hidden->height() + kGap : 0));
    m_path->adjustSize();
    m_path->move(kGap, kGap);
    m_close->adjustSize();
    m_close->move(size.width() - m_close->width() - kGap / 2, kGap / 2);
}

QRect CanvasOverlays::pathPlace() const { return m_path->isHidden() ? QRect() : m_path->geometry(); }

Camera CanvasOverlays::fitted(const QRectF& bounds) const {
    constexpr double kMargin = 24, kWorthIt = 0.7;
    const QSizeF size = m_canvas.size();
    const Camera whole = Camera::fitting(bounds, size, kMargin, 1.0);
    if (m_map->isHidden()) return whole;
    const QRectF map = QRectF(m_map->geometry()).adjusted(-kGap, -kGap, kGap, kGap);
    const auto under = m_canvas.m_painter->index().within({whole.toScene(map.topLeft(), size), map.size() / whole.scale}).items;
    if (std::all_of(under.begin(), under.end(), [&](std::uint32_t id) { return m_canvas.scene()->items[id].what.open; })) return whole;
    Camera beside = Camera::fitting(bounds, {map.left(), size.height()}, kMargin, 1.0);
    beside.centre.rx() += (size.width() - map.left()) / 2 / beside.scale;
    return beside.scale < kWorthIt * whole.scale ? whole : beside;
}

void CanvasOverlays::setOverviewVisible(bool visible) {
    m_overviewWanted = visible;
    arrange();
}

void CanvasOverlays::setClosable(bool closable) {
    m_close->setVisible(closable);
    arrange();
}

void CanvasOverlays::setLegendVisible(bool visible) {
    m_legendWanted = visible;
    m_legend->setVisible(visible && m_canvas.scene());
    arrange();
}

}  // namespace sonde::canvas
