#include "ui/panels/bisection/bisection_panel.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QTextDocument>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/context/inspector_context.h"
#include "ui/context/text.h"
#include "ui/context/window_hint.h"
#include "ui/models/node_text.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/progress_strip.h"
#include "ui/widgets/tool_button.h"
#include "ui/widgets/wrapped_label.h"

namespace sonde::panels {

using context::Bisection;
using context::InspectorContext;
using context::Message;

namespace bisecting = session::bisection;

BisectionPanel::BisectionPanel(context::OpenModel& opened, context::Navigation& navigation, Bisection& bisection,
                               context::Messages& messages, QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_bisection(bisection), m_messages(messages),
      m_model(opened, bisection), m_stack(new QStackedWidget(this)),
      m_empty(new widgets::EmptyState(QStringLiteral("bisect"), {}, {}, {}, m_stack)),
      m_view(makeTableView(tr("Operations of the part that differs"), m_stack)), m_splitter(new QSplitter),
      m_head(new QHBoxLayout), m_finding(new widgets::WrappedLabel), m_progress(new widgets::ProgressStrip),
      m_steps(new QLabel), m_select(new QPushButton(tr("Select Part"))), m_values(new QPushButton(tr("Both Values"))),
      m_save(new QPushButton(tr("Save Piece\u2026"))),
      m_close(widgets::makeToolButton(QStringLiteral("clear"), tr("Forget what was found, and its marks"), m_stack)) {
    build();
    connectParts();
    setFocusProxy(m_view);
    refresh();
}

void BisectionPanel::build() {
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("bisectionTable"));
    static constexpr int kWidths[] = {250, 90, 130, 110};
    setColumnWidths(m_view, kWidths);
    m_view->setTextElideMode(Qt::ElideMiddle);  // what tells one value of a module from another is at the end
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_finding->setObjectName(QStringLiteral("bisectionFinding"));
    m_steps->setObjectName(QStringLiteral("bisectionSteps"));
    m_steps->setWordWrap(true);
    m_steps->setTextFormat(Qt::RichText);
    m_steps->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_steps->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_steps->setContentsMargins(theme::kSmall, theme::kSmall, theme::kSmall, theme::kSmall);
    m_select->setObjectName(QStringLiteral("selectPart"));
    m_select->setToolTip(tr("Select the operations of the part on the canvas"));
    m_values->setObjectName(QStringLiteral("bothValues"));
    m_save->setObjectName(QStringLiteral("savePiece"));
    m_save->setToolTip(
        tr("Write the part as an ONNX file, with the values that it reads and gives in an .npz beside it"));
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(theme::kSmall);
    for (QPushButton* button : {m_select, m_values, m_save}) buttons->addWidget(button);
    buttons->addWidget(m_close);
    m_head->setContentsMargins(theme::kSmall, theme::kTight, theme::kTight, theme::kTight);
    m_head->setSpacing(theme::kSmall);
    m_head->addWidget(m_finding, 1);
    m_head->addLayout(buttons);
    auto* scroll = new QScrollArea;
    scroll->setWidget(m_steps);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setMinimumWidth(theme::kLarge * 8);
    // One above the other they need no more room than a panel with a table alone.
    scroll->setMinimumHeight(theme::kLarge * 2);
    m_view->setMinimumHeight(theme::kLarge * 2);
    m_splitter->addWidget(m_view);
    m_splitter->addWidget(scroll);
    m_splitter->setSizes({500, 400});  // parts of what there is
    m_splitter->setChildrenCollapsible(false);
    auto* page = new QWidget;
    auto* inner = new QVBoxLayout(page);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    inner->addLayout(m_head);
    inner->addWidget(m_splitter, 1);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(page);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_stack, 1);
    column->addWidget(m_progress);
}

void BisectionPanel::connectParts() {
    connect(&m_bisection, &Bisection::changed, this, &BisectionPanel::refresh);
    connect(&m_bisection, &Bisection::progressed, this, [this](const base::Progress& progress) {
        if (m_progress->isActive())
            m_progress->setProgress(QString::fromStdString(progress.what), static_cast<qint64>(progress.done),
                                    static_cast<qint64>(progress.total));
    });
    connect(&m_bisection, &Bisection::saved, this, [this](const QString& path, double apart) {
        m_messages.reportSaving(
            {},
            {base::Severity::Info, tr("Piece saved; run alone, it differs by %1 at most").arg(apart), path, {}, {}});
    });
    connect(&m_bisection, &Bisection::failed, this, [this](const base::Error& error) { m_messages.report(error); });
    connect(m_progress, &widgets::ProgressStrip::cancelRequested, &m_bisection, &Bisection::cancel);
    connect(m_close, &QToolButton::clicked, &m_bisection, &Bisection::clear);
    connect(m_select, &QPushButton::clicked, this, &BisectionPanel::selectPart);
    connect(m_values, &QPushButton::clicked, &m_bisection, &Bisection::showValues);
    connect(m_save, &QPushButton::clicked, this, &BisectionPanel::savePiece);
    connect(&m_navigation, &context::Navigation::selectionChanged, this, &BisectionPanel::follow);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &BisectionPanel::refresh);
    const auto choose = [this](const QModelIndex& row) {
        const QVariant node = row.isValid() ? row.data(models::NodeRole) : QVariant();
        if (m_following || !node.isValid() || !m_opened.isOpen()) return;
        graph::NodeId chosen;
        chosen.value = node.toUInt();
        m_navigation.navigateTo(chosen);
    };
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, choose);
    connect(m_view, &QTableView::clicked, this, choose);
}

void BisectionPanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    constexpr int kRoomy = 620, kLow = 300, kRoomyInLow = 480;  // pixels; a low panel has no rows to give away
    const bool isRoomy = width() >= (height() < kLow ? kRoomyInLow : kRoomy);
    m_splitter->setOrientation(isRoomy ? Qt::Horizontal : Qt::Vertical);
    m_head->setDirection(isRoomy ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
}

QString BisectionPanel::finding() const { return m_finding->wholeText(); }

QString BisectionPanel::steps() const {
    QTextDocument document;
    document.setHtml(m_steps->text());
    return document.toPlainText();
}

void BisectionPanel::refresh() {
    const Bisection::Outcome* const outcome = m_bisection.outcome();
    setHasContent(m_bisection.hasAny());
    if (!m_bisection.isActive()) m_progress->finish();
    else if (!m_progress->isActive())
        m_progress->start(tr("Bisecting"), widgets::ProgressStrip::kDelayMs, tr("Cancel"));
    m_stack->setCurrentIndex(outcome ? 1 : 0);
    if (!outcome) {
        const auto& error = m_bisection.error();
        const bool isCancelled = error && error->kind == base::ErrorKind::Cancelled;
        const QString icon = QStringLiteral("bisect");
        if (m_bisection.isActive())
            m_empty->setContent(icon, tr("Bisecting"), tr("The smallest part that differs is searched for."));
        else if (error)
            m_empty->setContent(icon, isCancelled ? tr("Cancelled") : context::windowText(*error),
                                isCancelled ? QString() : context::windowHint(error->hint));
        else
            m_empty->setContent(
                icon, tr("Nothing was compared"),
                tr("Run \u203a Bisect Differences finds the smallest part in which another model, a lower precision, "
                   "ONNX Runtime or a reference file gives other values."));
        return;
    }
    const bool differs = outcome->found.differs;
    const QString finding = QString::fromStdString(bisecting::findingText(*outcome));
    const QString node = differs ? models::shown(bisecting::culpritText(*outcome)) : QString();
    const QString other = QString::fromStdString(outcome->other);
    QString text = differs ? tr("%1 differs from %2: %3").arg(node, other, finding) : tr("%1: %2").arg(other, finding);
    if (!bisecting::unlikeText(*outcome).empty()) text = tr("Not the same network? %1").arg(text);
    if (const QString edits = m_bisection.editsText(); !edits.isEmpty()) text += tr(" (%1)").arg(edits);
    m_finding->setWholeText(text);
    m_steps->setText(stepsHtml());
    for (QPushButton* button : {m_select, m_values, m_save}) button->setVisible(differs);
    m_save->setEnabled(!m_bisection.isBusy() && bisecting::hasPiece(*outcome));
    const bool hasValues = m_bisection.nodeOf(outcome->found.node).valid();
    m_values->setEnabled(hasValues);
    m_values->setToolTip(
        hasValues ? tr("Show the value of the node that differs beside the other one, in the Tensor panel")
                  : tr("A run of the open model has no such value: it is replaced by an edit, or inside the part"));
    follow();
}

QString BisectionPanel::stepsHtml() const {
    const Bisection::Outcome& outcome = *m_bisection.outcome();
    QStringList lines;
    if (const std::string unlike = bisecting::unlikeText(outcome); !unlike.empty())
        lines << QStringLiteral("<b>%1</b>").arg(QString::fromStdString(unlike).toHtmlEscaped());
    if (const auto farthest = bisecting::farthestElement(outcome)) {
        QStringList index;
        for (const std::int64_t at : farthest->index) index << QString::number(at);
        auto [own, other] = bisecting::valueTexts(*farthest);
        if (outcome.isReference) own.swap(other);  // the model's own value is the other one
        lines << tr("At [%1] the value is <b>%2</b>, in the other one <b>%3</b>")
                     .arg(index.join(QStringLiteral(", ")), QString::fromStdString(own), QString::fromStdString(other));
    } else if (!outcome.found.note.empty()) {
        lines << QString::fromStdString(outcome.found.note).toHtmlEscaped();
    }
    constexpr std::size_t kWeightsListed = 8;
    for (std::size_t i = 0; i < std::min(outcome.weights.size(), kWeightsListed); ++i)
        lines << QString::fromStdString(bisecting::weightText(outcome.weights[i])).toHtmlEscaped();
    for (std::size_t i = 0; i < outcome.found.steps.size(); ++i)
        lines << tr("%1. %2").arg(QString::number(i + 1),
                                  QString::fromStdString(bisecting::stepText(outcome, i)).toHtmlEscaped());
    if (const std::string others = bisecting::differAnywayText(outcome); !others.empty())
        lines << QString::fromStdString(others).toHtmlEscaped();
    lines << QString::fromStdString(bisecting::countsText(outcome)).toHtmlEscaped();
    lines << tr("On %1").arg(m_bisection.basis()).toHtmlEscaped();
    for (const std::string& note : outcome.found.notes) lines << QString::fromStdString(note).toHtmlEscaped();
    return lines.join(QStringLiteral("<br>"));
}

void BisectionPanel::follow() {
    const int row = m_opened.isOpen() ? m_model.rowOf(m_navigation.selection().node) : -1;
    const QScopedValueRollback guard(m_following, true);
    if (row < 0) m_view->setCurrentIndex({});
    else m_view->setCurrentIndex(m_proxy.mapFromSource(m_model.index(row, 0)));
}

void BisectionPanel::selectPart() {
    if (m_bisection.part().empty()) return;
    m_navigation.navigateTo(m_bisection.part().back());
    m_navigation.selectMany(m_bisection.part());
}

void BisectionPanel::savePiece() {
    if (!m_bisection.outcome()) return;
    auto* dialog = new QFileDialog(this, tr("Save Piece"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({tr("ONNX (*.onnx)"), tr("All files (*)")});
    dialog->setDefaultSuffix(QStringLiteral("onnx"));
    dialog->selectFile(QStringLiteral("piece.onnx"));
    connect(dialog, &QFileDialog::fileSelected, &m_bisection, &Bisection::savePiece);
    dialog->open();
}

void BisectionPanel::join(const PanelHost& host) { connect(&m_bisection, &Bisection::started, this, host.raise); }

namespace {

constexpr QStringView kSelectWord = u"select";  // of scripts

base::Result<void> useBisection(QWidget& panel, const PanelHost&, const QString& words) {
    auto& bisection = static_cast<BisectionPanel&>(panel);
    if (words == u"cancel") {
        bisection.bisection().cancel();
        return {};
    }
    if (words == u"close") {
        bisection.bisection().clear();
        return {};
    }
    const auto* const outcome = bisection.bisection().outcome();
    if (!outcome) return base::usageError("nothing was found", {}, "bisect FILE|TYPE|ort=LIBRARY comes first");
    if (!outcome->found.differs) return base::usageError("the outputs agree: there is no part that differs");
    if (words == kSelectWord) bisection.selectPart();
    else if (words == u"values" && bisection.bisection().nodeOf(outcome->found.node).valid())
        bisection.bisection().showValues();
    else if (words == u"values")
        return base::usageError("a run of the open model has no value of what differs", {},
                                "switch the edits off and bisect again");
    else return base::usageError("no such word", words.toStdString(), "select, values, cancel or close");
    return {};
}

}  // namespace

PanelInfo bisectionPanel() {
    PanelInfo info{QStringLiteral("bisection"),
                   QObject::tr("Bisection"),
                   QStringLiteral("bisect"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+Shift+3"),
                   [](InspectorContext& context) -> Panel* {
                       return new BisectionPanel(context.model(), context.navigation(), context.bisection(),
                                                 context.messages());
                   }};
    info.coming = PanelComing::ToFront;
    info.size = {0, 220};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<BisectionPanel&>(panel).join(host); };
    info.commands = {{"part", "select|values|cancel|close",
                      "of a bisection: select the part that differs, show both values, end the search, or forget it",
                      useBisection}};
    return info;
}

}  // namespace sonde::panels
