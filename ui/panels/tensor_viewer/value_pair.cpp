#include "ui/panels/tensor_viewer/value_pair.h"

#include <QButtonGroup>
#include <QEvent>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <initializer_list>

#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/number_text.h"

namespace sonde::panels {

namespace {

constexpr int kBlinkMs = 700;  ///< that each of both is seen

struct ModeRow {
    const char* text;
    const char* name;
    const char* description;
};
constexpr ModeRow kModes[] = {
    {QT_TRANSLATE_NOOP("ValuePair", "Side by side"), "paneSide", QT_TRANSLATE_NOOP("ValuePair", "Both, in one look")},
    {QT_TRANSLATE_NOOP("ValuePair", "Blink"), "paneBlink",
     QT_TRANSLATE_NOOP("ValuePair", "One in the place of the other, in turn")},
    {QT_TRANSLATE_NOOP("ValuePair", "Difference"), "paneDifference",
     QT_TRANSLATE_NOOP("ValuePair", "The first less the second")},
};

bool haveOneShape(const tensor::Tensor& a, const tensor::Tensor& b) {
    return a.defined() && b.defined() && a.shape() == b.shape();
}

}  // namespace

ValuePair::ValuePair(QWidget* parent)
    : QWidget(parent), m_splitter(new QSplitter(Qt::Horizontal, this)), m_first(new TensorViewer(m_splitter)),
      m_second(new TensorViewer(m_splitter)), m_apart(new TensorViewer(m_splitter)),
      m_firstTitle(new widgets::ElidedLabel), m_secondTitle(new widgets::ElidedLabel),
      m_apartTitle(new widgets::ElidedLabel), m_firstPane(makePane(m_first, m_firstTitle)),
      m_secondPane(makePane(m_second, m_secondTitle)), m_apartPane(makePane(m_apart, m_apartTitle)),
      m_modes(new QWidget(this)), m_shared(new QWidget(this)), m_sharedColumn(new QVBoxLayout(m_shared)),
      m_legend(new QWidget(this)), m_legendColumn(new QVBoxLayout(m_legend)), m_buttons(new QButtonGroup(this)),
      m_difference(new widgets::ElidedLabel({}, m_modes)) {
    m_second->setObjectName(QStringLiteral("secondViewer"));
    m_apart->setObjectName(QStringLiteral("differenceViewer"));
    m_firstTitle->setObjectName(QStringLiteral("firstTitle"));
    m_secondTitle->setObjectName(QStringLiteral("secondTitle"));
    m_apartTitle->setText(tr("Difference"));
    m_apartTitle->hide();  // the button above says it
    m_apart->removeEdit();
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setOrientation(Qt::Vertical);
    for (int pane = 0; pane < m_splitter->count(); ++pane) m_splitter->setStretchFactor(pane, 1);
    // One look for both is chosen at one place.
    m_second->setControlsVisible(false);
    m_second->setStatisticsVisible(false);
    buildModes();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_modes);
    m_shared->setObjectName(QStringLiteral("sharedControls"));
    m_sharedColumn->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, 0);
    m_sharedColumn->setSpacing(theme::kTight);
    m_shared->hide();
    column->addWidget(m_shared);
    column->addWidget(m_splitter, 1);
    m_legendColumn->setContentsMargins(theme::kSmall, 0, theme::kSmall, 0);
    m_legend->setObjectName(QStringLiteral("sharedLegend"));
    m_legend->hide();
    column->addWidget(m_legend);
    for (TensorViewer* viewer : {m_first, m_second, m_apart}) lock(viewer);
    m_blink.setInterval(kBlinkMs);
    connect(&m_blink, &QTimer::timeout, this, &ValuePair::blink);
    setFocusProxy(m_first);
    arrange();
}

ValuePair::~ValuePair() { m_job.abandon(); }

QWidget* ValuePair::makePane(TensorViewer* viewer, widgets::ElidedLabel* title) {
    auto* pane = new QWidget(m_splitter);
    auto* column = new QVBoxLayout(pane);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    title->setParent(pane);
    title->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, 0);
    column->addWidget(title);
    column->addWidget(viewer, 1);
    m_splitter->addWidget(pane);
    return pane;
}

void ValuePair::buildModes() {
    auto* column = new QVBoxLayout(m_modes);
    column->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, 0);
    column->setSpacing(theme::kTight);
    auto* row = new widgets::FlowLayout(nullptr, 2, theme::kTight);
    column->addLayout(row);
    for (int i = 0; i < 3; ++i) {
        auto* button = new QToolButton(m_modes);
        button->setText(tr(kModes[i].text));
        button->setToolTip(tr(kModes[i].description));
        button->setObjectName(QLatin1String(kModes[i].name));
        button->setCheckable(true);
        button->setAutoRaise(true);
        m_buttons->addButton(button, i);
        row->addWidget(button);
    }
    m_difference->setObjectName(QStringLiteral("paneDifferenceText"));
    m_difference->setElideMode(Qt::ElideRight);
    column->addWidget(m_difference);
    m_buttons->button(0)->setChecked(true);
    connect(m_buttons, &QButtonGroup::idClicked, this, [this](int id) { setMode(static_cast<Mode>(id)); });
}

// --- one look for both -----------------------------------------------------------------------------------------------

/// What is changed in one is changed in the others. The difference has a range of its own.
void ValuePair::lock(TensorViewer* from) {
    connect(from, &TensorViewer::shownChanged, this, [this, from] {
        if (m_isLocking || !m_hasSecond) return;
        m_isLocking = true;
        for (TensorViewer* to : {m_first, m_second, m_apart})
            if (to != from) to->takeLook(*from, from != m_apart && to != m_apart);
        m_isLocking = false;
        if (from != m_apart) share();
    });
    connect(from, &TensorViewer::viewMoved, this, [this, from] {
        if (m_isLocking || !m_hasSecond) return;
        m_isLocking = true;
        for (TensorViewer* to : {m_first, m_second, m_apart})
            if (to != from) to->setViewPlace(from->viewPlace());
        m_isLocking = false;
    });
}

/// A range that fits the data fits that of both; of what cannot be compared each has its own.
void ValuePair::share() {
    const auto &a = m_first->shown(), &b = m_second->shown();
    if (!m_hasSecond || !a.stats || !b.stats || a.stats->finiteCount() == 0 || b.stats->finiteCount() == 0) return;
    m_isLocking = true;
    const double low = std::min(a.stats->minimum, b.stats->minimum),
                 high = std::max(a.stats->maximum, b.stats->maximum);
    const bool isOwn = !m_incomparable.isEmpty();
    m_first->fitTo(isOwn ? a.stats->minimum : low, isOwn ? a.stats->maximum : high);
    m_second->fitTo(isOwn ? b.stats->minimum : low, isOwn ? b.stats->maximum : high);
    m_isLocking = false;
}

// --- what is seen ----------------------------------------------------------------------------------------------------

void ValuePair::setSecond(const QString& firstTitle, const QString& title, const QString& key,
                          const tensor::Value* value, const QString& missing, const QString& incomparable) {
    m_hasSecond = true;
    m_key = key;
    m_incomparable = incomparable;
    m_firstTitle->setText(firstTitle);
    m_secondTitle->setText(value ? title : QStringLiteral("%1: %2").arg(title, missing));
    m_other = value ? *value : tensor::Value();
    arrange();
    m_isLocking = true;
    if (value) m_second->setValue(key + QStringLiteral(" 2"), *value, false);
    else m_second->clear();
    if (value) m_second->takeLook(*m_first, true);
    m_isLocking = false;
    share();
    compute();
    if (!value) m_difference->setText(m_secondTitle->text());  // why: a pane may be too narrow for it
}

void ValuePair::clearSecond() {
    if (!m_hasSecond) return;
    m_hasSecond = m_showsSecond = false;
    m_job.abandon();
    m_other = {};
    m_incomparable.clear();
    m_second->clear();
    m_apart->clear();
    m_difference->setText({});
    // Its own range again.
    if (m_first->shown().stats && m_first->shown().stats->finiteCount() > 0)
        m_first->fitTo(m_first->shown().stats->minimum, m_first->shown().stats->maximum);
    arrange();
}

void ValuePair::setCompact(bool compact) {
    for (TensorViewer* viewer : {m_first, m_apart}) viewer->setCompact(compact);
    m_apart->setStatisticsVisible(!compact);
}

void ValuePair::setMode(Mode mode) {
    if (mode == m_mode) return arrange();
    m_mode = mode;
    m_showsSecond = false;
    arrange();
    Q_EMIT modeChanged();
}

void ValuePair::blink() {
    if (!m_hasSecond || m_mode != Mode::Blink) return;
    m_showsSecond = !m_showsSecond;
    arrange();
}

void ValuePair::arrange() {
    const Mode mode = m_mode == Mode::Difference && !m_incomparable.isEmpty() ? Mode::SideBySide : m_mode;
    const bool isBlink = m_hasSecond && mode == Mode::Blink, isSide = m_hasSecond && mode == Mode::SideBySide;
    const bool isApart = m_hasSecond && mode == Mode::Difference;
    m_buttons->button(static_cast<int>(mode))->setChecked(true);
    QAbstractButton* const difference = m_buttons->button(static_cast<int>(Mode::Difference));
    difference->setEnabled(m_incomparable.isEmpty());
    difference->setToolTip(m_incomparable.isEmpty() ? tr(kModes[2].description) : m_incomparable);
    const bool isNewSide = isSide && !m_secondPane->isVisibleTo(m_splitter);
    m_firstPane->setVisible(!isApart && (!isBlink || !m_showsSecond));
    m_secondPane->setVisible(isSide || (isBlink && m_showsSecond));
    m_apartPane->setVisible(isApart);
    m_firstTitle->setVisible(m_hasSecond);
    m_modes->setVisible(m_hasSecond);
    // Of both: above them and below them, so that both have the same room. The difference has its own.
    m_first->lendControls(m_hasSecond ? m_sharedColumn : nullptr, m_legendColumn);
    for (TensorViewer* viewer : {m_first, m_second, m_apart}) viewer->setWhole(m_hasSecond);
    for (QWidget* shared : {m_shared, m_legend}) shared->setVisible(m_hasSecond && !isApart);
    constexpr int kShare = 1'000;  // of each pane: both have the same room until the user moves the border
    if (isNewSide) m_splitter->setSizes({kShare, kShare, kShare});
    if (isBlink && !m_blink.isActive()) m_blink.start();
    if (!isBlink) m_blink.stop();
    orient();
}

/// A panel that is too narrow for both has them below each other.
void ValuePair::orient() {
    constexpr int kMinBeside = 240, kMinWithScale = 390;  // pixels
    // Without colour bars in a narrow panel: the range above says the same, and both pictures are of one size.
    m_isLocking = true;  // nothing is chosen
    for (TensorViewer* viewer : {m_first, m_second})
        viewer->setScaleHidden(m_hasSecond && m_secondPane->isVisibleTo(m_splitter) &&
                               m_firstPane->isVisibleTo(m_splitter) && width() < kMinWithScale);
    m_isLocking = false;
    const int both =
        m_firstPane->minimumSizeHint().width() + m_splitter->handleWidth() + m_secondPane->minimumSizeHint().width();
    m_splitter->setOrientation(width() >= std::max(kMinBeside, both) ? Qt::Horizontal : Qt::Vertical);
}

/// As wide as the wider pane: the panel can always be made so narrow.
QSize ValuePair::minimumSizeHint() const {
    int width = 0;
    for (const QWidget* widget :
         std::initializer_list<const QWidget*>{m_modes, m_shared, m_firstPane, m_secondPane, m_apartPane, m_legend})
        if (!widget->isHidden()) width = std::max(width, widget->minimumSizeHint().width());
    return {width, QWidget::minimumSizeHint().height()};
}

void ValuePair::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    orient();
}

/// Another view needs another width.
bool ValuePair::event(QEvent* event) {
    const bool done = QWidget::event(event);
    if (event->type() == QEvent::LayoutRequest) orient();
    return done;
}

QWidget* ValuePair::panes() const { return m_splitter; }

QString ValuePair::differenceText() const { return m_difference->text(); }

void ValuePair::compute() {
    m_job.abandon();
    m_difference->setText({});
    const tensor::Tensor& first = m_first->tensor();
    if (!m_incomparable.isEmpty()) {
        m_apart->clear();
        return m_difference->setText(m_incomparable);
    }
    if (!m_other.isTensor() || !haveOneShape(first, m_other.tensor())) {
        m_apart->clear();
        m_difference->setText(m_other.isTensor() && first.defined() ? tr("The shapes differ")
                                                                    : tr("Only tensors are compared"));
        return;
    }
    m_job.start(
        [now = tensor::Value(first), before = m_other](const base::WorkContext& work) {
            Outcome outcome{session::debug::valueDifference(now, before, work), {}};
            if (auto change = session::debug::valueChange(now, before, work)) outcome.change = *change;
            return outcome;
        },
        [this](Outcome outcome) {
            if (outcome.change)
                m_difference->setText(outcome.change->changed == 0
                                          ? tr("Both are equal")
                                          : tr("Differ by up to %1 in %2 of %3 elements")
                                                .arg(QString::number(outcome.change->maxAbsolute, 'g', 3),
                                                     widgets::countText(outcome.change->changed),
                                                     widgets::countText(outcome.change->elements)));
            if (!outcome.difference) {
                m_apart->clear();
                return m_difference->setText(QString::fromStdString(outcome.difference.error().what));
            }
            m_isLocking = true;
            m_apart->setValue(m_key + QStringLiteral(" \u0394\u2082"), *outcome.difference, false, m_key);
            m_apart->takeLook(*m_first, false);
            m_isLocking = false;
        });
}

}  // namespace sonde::panels
