#include "ui/window/focus_bar.h"

#include <QEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QScopedValueRollback>
#include <QSlider>
#include <QToolButton>

#include "ui/context/count_text.h"
#include "ui/models/node_text.h"
#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/tool_button.h"

namespace sonde::window {

using context::Focus;

namespace {

constexpr int kSliderWidth = 130;
constexpr int kMaxTitle = 40;

}  // namespace

FocusBar::FocusBar(context::OpenModel& opened, context::Canvases& canvases, QWidget* parent)
    : QFrame(parent), m_opened(opened), m_canvases(canvases), m_title(new widgets::ElidedLabel({}, this)),
      m_up(widgets::makeToolButton(QStringLiteral("producer"), tr("Upstream"), this)),
      m_down(widgets::makeToolButton(QStringLiteral("consumer"), tr("Downstream"), this)),
      m_depth(new QSlider(Qt::Horizontal, this)), m_depthText(new QLabel(this)), m_count(new QLabel(this)) {
    setObjectName(QStringLiteral("focusBar"));
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setAccessibleName(tr("Filter of the graph"));
    m_up->setCheckable(true);
    m_down->setCheckable(true);
    m_depth->setObjectName(QStringLiteral("coneDepth"));
    m_depth->setAccessibleName(tr("Depth in edges"));
    m_depth->setToolTip(tr("Maximum distance in edges; at the right end: unlimited"));
    m_depth->setFixedWidth(kSliderWidth);
    m_depth->setPageStep(1);
    auto* all = widgets::makeToolButton(QStringLiteral("close"), tr("Show everything (Ctrl+Shift+H)"), this);
    auto* row = new widgets::FlowLayout(this, theme::kTight, theme::kTight);
    row->setContentsMargins(theme::kSmall, theme::kTight, theme::kTight, theme::kTight);
    for (QWidget* part : std::initializer_list<QWidget*>{m_title, m_up, m_down, m_depth, m_depthText, m_count, all})
        row->addWidget(part);
    connect(m_up, &QToolButton::clicked, this, &FocusBar::cone);
    connect(m_down, &QToolButton::clicked, this, &FocusBar::cone);
    connect(m_depth, &QSlider::valueChanged, this, [this] {
        if (!m_refreshing) cone();
    });
    connect(all, &QToolButton::clicked, this, [this] { m_canvases.active().showEverything(); });
    connect(&m_canvases, &context::Canvases::focusChanged, this, &FocusBar::refresh);
    connect(&m_opened, &context::OpenModel::documentOpened, this, &FocusBar::refresh);
    connect(&m_opened, &context::OpenModel::documentClosed, this, &FocusBar::refresh);
    for (QWidget* part : std::initializer_list<QWidget*>{m_up, m_down, m_depth, all}) part->installEventFilter(this);
    refresh();
}

void FocusBar::cone() {
    const int depth = m_depth->value() >= m_depth->maximum() ? 0 : m_depth->value();
    // At least one direction: a cone without any would be nothing but its tip.
    const bool down = m_down->isChecked() || !m_up->isChecked();
    m_canvases.active().focusCone(m_up->isChecked(), down, depth);
}

QString FocusBar::title() const {
    const Focus& focus = m_canvases.active().focus();
    if (!m_opened.isOpen() || focus.seeds.empty()) return tr("Some operations are hidden");
    const auto name = [this](graph::ExprId id) {
        const graph::Expr& expr = m_opened.graph().expr(id);
        const QString text = expr.outputs.empty() ? models::operatorText(expr)
                                                  : models::shown(m_opened.graph().node(expr.outputs.front()).name);
        return text.size() > kMaxTitle ? text.left(kMaxTitle / 2) + QChar(0x2026) + text.right(kMaxTitle / 2) : text;
    };
    const QString first = focus.seeds.size() == 1 ? name(focus.seeds.front())
                                                  : tr("%1 operations").arg(context::countText(focus.seeds.size()));
    switch (focus.kind) {
        case Focus::Kind::Cone:
            return focus.upstream && focus.downstream ? tr("Around %1").arg(first)
                   : focus.upstream                   ? tr("Upstream of %1").arg(first)
                                                      : tr("Downstream of %1").arg(first);
        case Focus::Kind::Paths:
            return tr("Paths from %1 to %2")
                .arg(first, focus.targets.size() == 1 ? name(focus.targets.front())
                                                      : tr("%1 nodes").arg(context::countText(focus.targets.size())));
        default: return tr("Only %1").arg(first);
    }
}

void FocusBar::refresh() {
    const QScopedValueRollback guard(m_refreshing, true);
    const Focus& focus = m_canvases.active().focus();
    const bool shown = m_opened.isOpen() && (focus.kind != Focus::Kind::None || m_canvases.active().hidesAny());
    const bool cone = focus.kind == Focus::Kind::Cone;
    setVisible(shown);
    if (!shown) return;
    m_title->setText(title());
    for (QWidget* part : std::initializer_list<QWidget*>{m_up, m_down, m_depth, m_depthText}) part->setVisible(cone);
    m_up->setChecked(focus.upstream);
    m_down->setChecked(focus.downstream);
    const int farthest = std::max(1, focus.farthest);
    m_depth->setRange(1, farthest);
    m_depth->setValue(focus.depth == 0 ? farthest : std::min(focus.depth, farthest));
    m_depthText->setText(m_depth->value() >= farthest ? tr("all") : tr("%1 of %2").arg(m_depth->value()).arg(farthest));
    m_depthText->setMinimumWidth(fontMetrics().horizontalAdvance(tr("%1 of %2").arg(farthest).arg(farthest)));
}

void FocusBar::setLeftOut(std::size_t operations) {
    m_count->setText(tr("%1 hidden").arg(context::countText(operations)));
}

QString FocusBar::text() const { return m_title->text() + QStringLiteral("  ") + m_count->text(); }

bool FocusBar::eventFilter(QObject* watched, QEvent* event) {
    // Arrows, Space and Return, which the canvas knows, are for what has the focus in the bar.
    if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->modifiers() == Qt::NoModifier)
        event->accept();
    return QFrame::eventFilter(watched, event);
}

}  // namespace sonde::window
