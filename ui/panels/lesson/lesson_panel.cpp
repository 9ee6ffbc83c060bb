#include "ui/panels/lesson/lesson_panel.h"

#include <QAbstractTextDocumentLayout>
#include <QAction>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QTextCursor>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/lessons/shipped.h"
#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"
#include "ui/panels/lesson/lesson_questions.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using context::Lessons;

LessonPanel::LessonPanel(context::OpenModel& opened, context::Navigation& navigation, Lessons& lessons,
                         context::Messages& messages, QWidget* parent)
    : Panel(parent), m_opened(opened), m_lessons(lessons), m_messages(messages), m_stack(new QStackedWidget(this)),
      m_list(new QListWidget), m_title(new widgets::ElidedLabel), m_progress(new QLabel),
      m_previous(widgets::makeToolButton(QStringLiteral("back"), tr("Previous step (Alt+PgUp)"), this)),
      m_next(widgets::makeToolButton(QStringLiteral("forward"), tr("Next step (Alt+PgDown)"), this)),
      m_close(widgets::makeToolButton(QStringLiteral("close"), tr("Close the lesson"), this)),
      m_scroll(new QScrollArea), m_stepTitle(new QLabel), m_text(new QTextBrowser),
      m_questions(new LessonQuestions(opened, navigation, lessons, this)) {
    m_stack->addWidget(makeList());
    m_stack->addWidget(makePage());
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(m_stack);
    connect(m_previous, &QToolButton::clicked, &lessons, &Lessons::previous);
    connect(m_next, &QToolButton::clicked, &lessons, &Lessons::next);
    connect(m_close, &QToolButton::clicked, this, &LessonPanel::closeLesson);
    connect(&lessons, &Lessons::lessonChanged, this, &LessonPanel::refresh);
    connect(&lessons, &Lessons::stepChanged, this, &LessonPanel::refreshStep);
    connect(&lessons, &Lessons::textChanged, this, &LessonPanel::refreshText);
    connect(&lessons, &Lessons::failed, this, [this](const base::Error& error) {
        m_error = error;
        m_messages.report(error);
    });
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, [this] {
        m_stepTitle->setFont(theme::Theme::instance().titleFont());
        refreshText();
    });
    refresh();
}

QWidget* LessonPanel::makeList() {
    m_list->setObjectName(QStringLiteral("lessons"));
    m_list->setAccessibleName(tr("Lessons"));
    m_list->setWordWrap(true);
    m_list->setFrameShape(QFrame::NoFrame);
    for (const lessons::ShippedLesson& shipped : lessons::shippedLessons()) {
        lessons::LessonProblem problem;
        const auto lesson = lessons::parse(shipped.text, problem);
        if (!lesson) continue;
        auto* item = new QListWidgetItem(QString::fromStdString(lesson->title), m_list);
        item->setToolTip(QString::fromStdString(lesson->summary));
        item->setData(Qt::UserRole, QString::fromUtf8(shipped.id.data(), static_cast<qsizetype>(shipped.id.size())));
    }
    connect(m_list, &QListWidget::itemActivated, this,
            [this](const QListWidgetItem* item) { m_lessons.open(item->data(Qt::UserRole).toString()); });
    m_list->setCurrentRow(0);
    setFocusProxy(m_list);
    return m_list;
}

QWidget* LessonPanel::makePage() {
    auto* page = new QWidget;
    auto* header = new QHBoxLayout;
    header->setContentsMargins(theme::kSmall, theme::kTight, theme::kTight, 0);
    m_progress->setObjectName(QStringLiteral("lessonProgress"));
    header->addWidget(m_title, 1);
    header->addWidget(m_progress);
    for (QToolButton* button : {m_previous, m_next, m_close}) header->addWidget(button);
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kSmall);
    m_stepTitle->setWordWrap(true);
    m_stepTitle->setTextFormat(Qt::PlainText);
    m_text->setObjectName(QStringLiteral("lessonText"));
    m_text->setAccessibleName(tr("What the step says"));
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setOpenLinks(false);
    m_text->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    m_text->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_text->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_text->viewport()->setAutoFillBackground(false);
    m_text->setStyleSheet(QStringLiteral("background: transparent"));
    m_text->document()->setDocumentMargin(0);
    connect(m_text->document()->documentLayout(), &QAbstractTextDocumentLayout::documentSizeChanged, this,
            &LessonPanel::fitText);
    column->addWidget(m_stepTitle);
    column->addWidget(m_text);
    column->addWidget(m_questions);
    column->addStretch(1);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setWidget(content);
    auto* all = new QVBoxLayout(page);
    all->setContentsMargins(0, 0, 0, 0);
    all->addLayout(header);
    all->addWidget(m_scroll, 1);
    return page;
}

/// The page scrolls as a whole, not the text in it.
void LessonPanel::fitText() { m_text->setFixedHeight(static_cast<int>(m_text->document()->size().height()) + 2); }

QString LessonPanel::titleText() const { return m_title->text(); }
QString LessonPanel::progressText() const { return m_progress->text(); }
QString LessonPanel::stepText() const { return m_text->toPlainText(); }

int LessonPanel::neededHeight() const {
    if (m_stack->currentIndex() == 0) return m_list->sizeHint().height();
    const QWidget* const content = m_scroll->widget();
    return height() - m_scroll->height() + content->heightForWidth(m_scroll->viewport()->width());
}

void LessonPanel::refresh() {
    const bool isOpen = m_lessons.isOpen();
    m_stack->setCurrentIndex(isOpen ? 1 : 0);
    setFocusProxy(isOpen ? static_cast<QWidget*>(m_scroll) : m_list);
    if (isOpen) m_title->setText(QString::fromStdString(m_lessons.lesson().lesson().title));
    refreshStep();
    if (isOpen) m_isListAsked = false;
    setHasContent(isOpen || m_isListAsked);
}

void LessonPanel::refreshStep() {
    const lessons::Step* const step = m_lessons.step();
    m_stepTitle->setFont(theme::Theme::instance().titleFont());
    m_stepTitle->setText(step ? QString::fromStdString(step->title) : QString());
    m_stepTitle->setVisible(step != nullptr);
    m_progress->setText(step ? tr("%1 of %2").arg(m_lessons.at() + 1).arg(m_lessons.stepCount()) : QString());
    m_questions->rebuild();
    m_scroll->ensureVisible(0, 0);
    refreshText();
    refreshActions();
}

void LessonPanel::refreshText() {
    QString text = m_lessons.text();
    if (const QString missing = m_lessons.missingText(); !missing.isEmpty())
        text = tr("Not with this model: %1. Open another model, and the lesson begins.").arg(missing);
    m_text->setMarkdown(text);
    if (m_lessons.step() && !m_lessons.failureText().isEmpty()) writeFailure(m_lessons.failureText());
    fitText();
}

/// Above the text, whose numbers it explains.
void LessonPanel::writeFailure(const QString& failure) {
    QTextCursor cursor(m_text->document());
    cursor.insertBlock();
    cursor.movePosition(QTextCursor::Start);
    QTextBlockFormat paragraph;
    paragraph.setBottomMargin(theme::kSmall);
    cursor.setBlockFormat(paragraph);
    QTextCharFormat letters;
    letters.setForeground(theme::color(theme::ColorRole::Error));
    cursor.insertText(failure, letters);
}

void LessonPanel::refreshActions() {
    m_previous->setEnabled(m_lessons.at() > 0);
    m_next->setEnabled(m_lessons.at() + 1 < m_lessons.stepCount());
    if (!m_actions) return;
    m_actions->action(QStringLiteral("lesson.previous"))->setEnabled(m_previous->isEnabled());
    m_actions->action(QStringLiteral("lesson.next"))->setEnabled(m_next->isEnabled());
    m_actions->action(QStringLiteral("lesson.close"))->setEnabled(m_lessons.isOpen());
}

void LessonPanel::closeLesson() {
    m_isListAsked = false;
    m_lessons.close();
}

void LessonPanel::openFile() {
    const QString file = QFileDialog::getOpenFileName(window(), tr("Open Lesson"), {}, tr("Lessons (*.md);;All (*)"));
    if (!file.isEmpty()) m_lessons.open(file);
}

void LessonPanel::join(const PanelHost& host) {
    m_actions = &host.actions;
    host.actions.bind("help.lessons", this, [this, show = host.show] {
        m_isListAsked = true;
        m_lessons.close();
        show();
    });
    host.actions.bind("lesson.open", this, [this] { openFile(); });
    host.actions.bind("lesson.next", this, [this] { m_lessons.next(); });
    host.actions.bind("lesson.previous", this, [this] { m_lessons.previous(); });
    host.actions.bind("lesson.close", this, [this] { closeLesson(); });
    connect(&m_lessons, &Lessons::lessonChanged, this, [this, show = host.show] {
        if (m_lessons.isOpen()) show();
    });
    // The window enables what a model is enough for.
    for (const char* const id : {"lesson.previous", "lesson.next", "lesson.close"})
        connect(host.actions.action(QLatin1String(id)), &QAction::enabledChanged, this, &LessonPanel::refreshActions);
    refreshActions();
}

base::Result<void> LessonPanel::perform(const QString& what) {
    if (what == u"next" || what == u"previous") {
        if (!m_lessons.step()) return base::usageError("no lesson is open", {}, "lesson convolution");
        what == u"next" ? m_lessons.next() : m_lessons.previous();
        return {};
    }
    if (what == u"close") {
        m_lessons.close();
        return {};
    }
    m_error.reset();
    m_lessons.open(what);
    if (m_error) return *m_error;
    // The panel says so; a script would go on without any step.
    if (const QString missing = m_lessons.missingText(); !missing.isEmpty())
        return base::usageError(missing.toStdString(), what.toStdString());
    return {};
}

PanelInfo lessonPanel() {
    PanelInfo info{QStringLiteral("lesson"),
                   QObject::tr("Lesson"),
                   QStringLiteral("help"),
                   PanelArea::Right,
                   QStringLiteral("Alt+K"),
                   [](context::InspectorContext& context) -> Panel* {
                       return new LessonPanel(context.model(), context.navigation(), context::lessonsOf(context),
                                              context.messages());
                   }};
    info.coming = PanelComing::OnDemand;
    info.size = {0, 420};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<LessonPanel&>(panel).join(host); };
    info.commands = {{"lesson", "ID|FILE|next|previous|close",
                      "open a lesson (an id of the list in Help, or a file); go to its next or previous step; close it",
                      [](QWidget& panel, const PanelHost&, const QString& what) {
                          return static_cast<LessonPanel&>(panel).perform(what);
                      }}};
    return info;
}

}  // namespace sonde::panels
