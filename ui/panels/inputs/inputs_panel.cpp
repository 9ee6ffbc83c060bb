#include "ui/panels/inputs/inputs_panel.h"

#include <QApplication>
#include <QCheckBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/actions/action_registry.h"
#include "ui/context/count_text.h"
#include "ui/context/input_spec.h"
#include "ui/context/inspector_context.h"
#include "ui/context/messages.h"
#include "ui/panels/inputs/folder_part.h"
#include "ui/panels/inputs/input_editor.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"

namespace sonde::panels {

using context::InspectorContext;

namespace {

/// Editors are made so many at a time: they are whole forms, and a file may have thousands of inputs.
constexpr std::size_t kAtOnce = 32;

}  // namespace

InputsPanel::InputsPanel(context::OpenModel& opened, context::Runs& runs, context::Inputs& inputs,
                         context::Comparison& comparison, context::Messages& messages, QWidget* parent)
    : Panel(parent), m_opened(opened), m_runs(runs), m_inputs(inputs), m_messages(messages),
      m_area(new QScrollArea(this)), m_live(new QCheckBox(tr("Live"), this)),
      m_run(new QPushButton(theme::icon(QStringLiteral("run")), tr("Run"), this)) {
    m_area->setWidgetResizable(true);
    m_area->setFrameShape(QFrame::NoFrame);
    m_area->setMinimumHeight(2 * m_area->fontMetrics().height());  // the column is shared with other panels
    m_area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_area->viewport()->installEventFilter(this);
    m_live->setToolTip(tr("Run again automatically when an input changes"));
    m_run->setToolTip(tr("Run the model on these inputs (F5)"));
    auto* top = new QHBoxLayout;
    top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    top->addWidget(m_run);
    top->addWidget(m_live);
    top->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(top);
    column->addWidget(m_area);

    connect(m_run, &QPushButton::clicked, &runs, &context::Runs::run);
    connect(m_live, &QCheckBox::clicked, &runs, &context::Runs::setLive);
    connect(&runs, &context::Runs::liveChanged, m_live, &QCheckBox::setChecked);
    // Told before a run or a comparison takes its inputs, whatever began it.
    connect(&runs, &context::Runs::runStarted, this, &InputsPanel::giveTyped);
    connect(&comparison, &context::Comparison::started, this, &InputsPanel::giveTyped);
    connect(&opened, &context::OpenModel::documentOpened, this, &InputsPanel::rebuild);
    connect(&opened, &context::OpenModel::documentClosed, this, &InputsPanel::rebuild);
    connect(&inputs, &context::Inputs::inputsChanged, this, &InputsPanel::refresh);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &InputsPanel::refresh);
    rebuild();
}

void InputsPanel::rebuild() {
    m_editors.clear();
    m_column = nullptr;
    m_more = nullptr;
    const bool model = m_opened.isOpen();
    m_run->setEnabled(model);
    m_live->setEnabled(model);
    setHasContent(model && !m_inputs.all().empty());
    if (!hasContent()) {
        m_area->setWidget(new widgets::EmptyState(QStringLiteral("input"),
                                                  model ? tr("The model has no inputs") : tr("No model is open"),
                                                  model ? QString() : tr("The inputs of the model appear here.")));
        return;
    }
    auto* content = new QWidget;
    m_column = new QVBoxLayout(content);
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(theme::kTight);
    m_more = new QPushButton;
    m_more->setObjectName(QStringLiteral("moreInputs"));
    m_more->setToolTip(tr("Show more inputs; a run uses all of them"));
    m_column->addWidget(m_more, 0, Qt::AlignHCenter);
    m_column->addStretch(1);
    connect(m_more, &QPushButton::clicked, this, &InputsPanel::addEditors);
    addEditors();
    m_area->setWidget(content);
    setFocusProxy(m_editors.front());
    content->installEventFilter(this);
}

void InputsPanel::addEditors() {
    const std::vector<context::ModelInput>& inputs = m_inputs.all();
    const std::size_t wanted = std::min(inputs.size(), m_editors.size() + kAtOnce);
    while (m_editors.size() < wanted) {
        auto* editor = new InputEditor(m_opened, m_runs, m_inputs, inputs[m_editors.size()].name);
        connect(editor, &InputEditor::numberTyped, this, [this, editor] {
            if (m_live->isChecked()) editor->giveTyped();
        });
        m_column->insertWidget(static_cast<int>(m_editors.size()), editor);
        m_editors.push_back(editor);
    }
    m_more->setVisible(wanted < inputs.size());
    m_more->setText(tr("%1 more inputs").arg(context::countText(inputs.size() - wanted)));
}

/// An input that is refused now is brought into view.
void InputsPanel::refresh() {
    InputEditor* refused = nullptr;
    for (InputEditor* editor : m_editors) {
        const QString before = editor->refusal();
        editor->refresh();
        const QString now = editor->refusal();
        if (!refused && !now.isEmpty() && now != before) refused = editor;
    }
    if (!refused) return;
    m_refused = refused;
    revealSoon();
}

void InputsPanel::revealSoon() {
    QTimer::singleShot(0, this, [this] {
        if (m_refused && !m_refused->refusal().isEmpty()) reveal(*m_refused);
    });
}

/// The text of a refusal gets its height later, and the panel may be made lower.
bool InputsPanel::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize && m_refused) revealSoon();
    return Panel::eventFilter(watched, event);
}

/// Where there is no room for the whole editor its text matters, and of a long one the beginning.
void InputsPanel::reveal(InputEditor& editor) {
    m_area->ensureWidgetVisible(&editor, 0, 0);
    const QLabel& text = editor.state();
    const int top = text.mapTo(m_area->widget(), QPoint()).y();
    const int shown = std::min(text.height(), m_area->viewport()->height());
    m_area->ensureVisible(0, top + shown, 0, 0);
    m_area->ensureVisible(0, top, 0, 0);
}

void InputsPanel::giveTyped() {
    for (InputEditor* editor : m_editors) editor->giveTyped();
}

InputEditor* InputsPanel::editorFor(const std::function<bool(InputEditor&)>& willDo) const {
    InputEditor* found = nullptr;
    for (InputEditor* editor : m_editors) {
        if (!willDo(*editor)) continue;
        if (!found || editor->isAncestorOf(QApplication::focusWidget())) found = editor;
    }
    return found;
}

void InputsPanel::drawInput() {
    InputEditor* const editor = editorFor([](InputEditor& each) { return each.canDraw(); });
    if (editor) editor->draw();
    else
        m_messages.report({base::Severity::Info,
                           tr("No input of the model takes a drawing"),
                           {},
                           tr("A drawing fits images with 1 or 3 channels"),
                           {}});
}

void InputsPanel::stepFile(int by) {
    InputEditor* const editor = editorFor([by](InputEditor& each) { return each.folder().canStep(by); });
    if (editor) editor->folder().step(by);
    else
        m_messages.report(
            {base::Severity::Info,
             by < 0 ? tr("There is no file before it in the folder") : tr("There is no further file in the folder"),
             {},
             tr("Choose a file of a folder as the value of an input"),
             {}});
}

void InputsPanel::join(const PanelHost& host) {
    connect(&m_inputs, &context::Inputs::fileGiven, this, host.show);
    host.actions.bind(QStringLiteral("inputs.draw"), this, [this, show = host.show] {
        show();
        drawInput();
    });
    host.actions.bind(QStringLiteral("inputs.next_file"), this, [this] { stepFile(1); });
    host.actions.bind(QStringLiteral("inputs.previous_file"), this, [this] { stepFile(-1); });
}

PanelInfo inputsPanel() {
    PanelInfo info{QStringLiteral("inputs"),
                   QObject::tr("Inputs"),
                   QStringLiteral("input"),
                   PanelArea::Left,
                   QStringLiteral("Alt+2"),
                   [](InspectorContext& context) -> Panel* {
                       return new InputsPanel(context.model(), context.runs(), context.inputs(), context.comparison(),
                                              context.messages());
                   }};
    info.size = {0, 300};
    info.advice = {{QStringLiteral("--input-data"), QObject::tr("set the inputs in the Inputs panel")}};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<InputsPanel&>(panel).join(host); };
    return info;
}

}  // namespace sonde::panels
