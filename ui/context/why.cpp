#include "ui/context/why.h"

#include <algorithm>
#include <utility>

#include "core/ops/dependence/recurrent.h"
#include "core/session/chain_reference.h"
#include "core/session/why/notable_element.h"
#include "core/session/why/run_reader.h"
#include "ui/context/background.h"

namespace sonde::context {

using session::RepeatedRun;
using session::debug::View;
using session::why::Box;
using session::why::Chain;
using session::why::Contributions;
using session::why::Explanation;
using session::why::ReceptiveField;
using session::why::RunReader;
using session::why::Share;

namespace {

/// Terms that the list shows one by one.
constexpr std::size_t kTermsListed = 256;

}  // namespace

/// What is found out about the first element at once.
struct Why::Traced {
    ReceptiveField field;
    Contributions contributions;
};

Why::Why(session::Session& session, Debugger& debugger, Runs& runs, Navigation& navigation, OpenModel& model)
    : m_session(session), m_debugger(debugger), m_navigation(navigation) {
    connect(&runs, &Runs::runFinished, this, &Why::follow);
    connect(&debugger, &Debugger::changed, this, &Why::follow);
    connect(&model, &OpenModel::documentLeft, this, &Why::clear);
    connect(&model, &OpenModel::fileChanged, this, &Why::follow);
    connect(&m_job, &Job::progressed, this, &Why::progressed);
    connect(&debugger, &Debugger::progressed, this, [this](const base::Progress& progress) {
        if (m_step != Step::None && m_shown.isDebugged) Q_EMIT progressed(progress);
    });
}

Why::~Why() = default;

// --- the way ---------------------------------------------------------------------------------------------------------

QString Why::text(const Place& place) const {
    if (!place.node.valid() || !m_session.document()) return {};
    QStringList index;
    if (place.member) index << QString::number(*place.member);
    for (const std::int64_t i : place.index) index << QString::number(i);
    const QString name = QString::fromStdString(m_session.document()->graph->node(place.node).name);
    QString text = index.isEmpty() ? name : name + u'[' + index.join(QStringLiteral(", ")) + u']';
    if (place.state > 0)
        text += tr(", %1 inside").arg(QString::fromStdString(ops::dependence::innerStateText(place.state)));
    return text;
}

void Why::setPointed(const Place& place, std::optional<std::size_t> iteration) {
    m_pointed = place;
    m_pointedIteration = iteration;
}

void Why::ask(const Place& place, std::optional<std::size_t> iteration) {
    if (!m_session.document() || !place.node.valid()) return;
    dropWork();
    m_trail.assign(1, Hop{place});
    m_at = 0;
    m_iteration = iteration;
    m_field.reset();
    m_contributions.reset();
    m_traceError.reset();
    m_shown = shown();
    Q_EMIT asked();
    Q_EMIT changed();
    Q_EMIT fieldChanged();
    next();
}

void Why::askAbout(NodeId node) {
    if (m_pointed && m_pointed->node == node) ask(Place(*m_pointed), m_pointedIteration);
    else ask({node, {}, {}});
}

void Why::hop(const Place& place) {
    if (!isAsked() || !place.node.valid()) return;
    dropWork();
    m_trail.resize(static_cast<std::size_t>(m_at) + 1);
    m_trail.push_back(Hop{place});
    m_at = static_cast<int>(m_trail.size()) - 1;
    show(place);
    Q_EMIT changed();
    next();
}

void Why::goTo(int position) {
    if (position < 0 || position >= static_cast<int>(m_trail.size()) || position == m_at) return;
    if (isLooking()) dropWork();
    m_at = position;
    show(current()->place);
    Q_EMIT changed();
    next();
}

void Why::followLargest() {
    if (!isAsked()) return;
    m_wantsChain = true;
    if (isTracing()) dropWork();
    next();
}

void Why::show(const Place& place) {
    if (place.node.valid() && m_navigation.selection().node != place.node) m_navigation.navigateTo(place.node);
}

void Why::retry() {
    if (!isAsked()) return;
    dropWork();
    m_trail[static_cast<std::size_t>(m_at)].error.reset();
    m_traceError.reset();
    Q_EMIT changed();
    next();
}

void Why::cancel() {
    m_wantsChain = false;
    if (m_shown.isDebugged && m_step != Step::None) m_session.debugger().stop();
    m_job.cancel();
}

void Why::clear() {
    dropWork();
    freeLater(std::exchange(m_again, {}));
    m_pointed.reset();
    const bool wasAsked = isAsked();
    m_trail.clear();
    m_at = 0;
    m_field.reset();
    m_contributions.reset();
    m_traceError.reset();
    if (!wasAsked) return;
    Q_EMIT changed();
    Q_EMIT fieldChanged();
}

// --- the run ---------------------------------------------------------------------------------------------------------

Why::Shown Why::shown() const {
    if (!m_debugger.isShown()) return {false, m_session.runs().last().recording.get()};
    return {true, m_session.debugger().run(), m_debugger.place().item, m_debugger.place().isEnd};
}

/// Another run, or another place of it: other values. Work that a debugged run dropped when it moved begins again.
void Why::follow() {
    if (m_again && !m_again->isOf(m_session)) {
        m_job.abandon();
        freeLater(std::exchange(m_again, {}));
    }
    if (!isAsked() || (m_debugger.isShown() && m_debugger.isRunning()) || m_session.runs().isRunning()) return;
    const Shown now = shown();
    if (now == m_shown && (m_step == Step::None || !now.isDebugged)) return;
    dropWork();
    if (now != m_shown) forgetAnswers();
    m_shown = now;
    next();
}

void Why::forgetAnswers() {
    for (Hop& hop : m_trail) hop = Hop{hop.place};
    m_field.reset();
    m_contributions.reset();
    m_traceError.reset();
    Q_EMIT changed();
    Q_EMIT fieldChanged();
}

void Why::dropWork() {
    m_job.abandon();
    ++m_number;
    m_step = Step::None;
    m_wantsChain = false;
}

// --- finding out -----------------------------------------------------------------------------------------------------

/// `work(view, place, context)` on a worker; `done(result)` here, unless something else was asked meanwhile.
template <typename Work, typename Done>
void Why::look(Step step, Work work, Done done) {
    using R = std::invoke_result_t<Work&, const View&, const base::WorkContext&>;
    const auto take = [this, number = ++m_number, done = std::move(done)](R result) {
        if (number != m_number) return;
        m_step = Step::None;
        if (!m_session.runs().checkFiles()) return;
        done(std::move(result));
        next();
    };
    if (m_debugger.isShown()) {
        if (!m_debugger.isStopped()) return;  // follow() comes
        m_step = step;
        m_session.debugger().inspect(
            [work = std::move(work)](const View& view, const base::WorkContext& context) -> R {
                view.doCurrent(context);
                return work(view, context);
            },
            take);
        return;
    }
    if (!m_again) {
        auto made = RepeatedRun::of(m_session);
        if (!made) return fail(made.error());
        m_again = std::move(*made);
    }
    m_step = step;
    // All hops are seen from where the first element was computed: so loops are seen in its iteration.
    m_job.start(
        [again = m_again, node = m_trail.front().place.node, iteration = m_iteration,
         work = std::move(work)](const base::WorkContext& context) -> R {
            SONDE_TRY(again->reach(node, context));
            return work(again->view(node, iteration), context);
        },
        take);
}

void Why::fail(const base::Error& error) {
    m_trail[static_cast<std::size_t>(m_at)].error = error;
    Q_EMIT changed();
}

void Why::next() {
    if (m_step != Step::None || !isAsked() || !m_session.document() || m_session.runs().isRunning()) return;
    const Hop& hop = *current();
    if (!hop.explanation && !hop.error) explain();
    else if (hop.explanation && std::exchange(m_wantsChain, false)) followChain();
    else if (m_trail.front().explanation && !m_field && !m_traceError) trace();
    else return;
    Q_EMIT changed();
}

void Why::explain() {
    look(
        Step::Explain,
        [document = m_session.document(), place = current()->place](
            const View& view, const base::WorkContext& work) -> base::Result<Explanation> {
            RunReader reader(view, work);
            session::why::Place found = place;
            SONDE_TRY(session::why::findElement(found, reader, work.stop));
            return session::why::explain(*document->graph, found, reader, {kTermsListed}, work);
        },
        [this](base::Result<Explanation> found) {
            if (!found) return fail(found.error());
            take(m_trail[static_cast<std::size_t>(m_at)], std::move(*found));
            Q_EMIT changed();
        });
}

void Why::take(Hop& hop, Explanation explanation) {
    explanation.all.reset();  // millions of terms, perhaps
    hop.place = explanation.place;
    std::string end;
    const Place further = session::why::nextInChain(*m_session.document()->graph, explanation, end, hop.isOrigin);
    hop.end = further.node.valid() ? QString() : QString::fromStdString(end);
    hop.explanation = std::move(explanation);
}

void Why::followChain() {
    session::ChainReference given = session::chainReference(m_session, m_debugger.isShown());
    const bool isBaseline = given.baseline != nullptr;
    look(
        Step::Chain,
        [reference = std::move(given), place = current()->place](const View& view,
                                                                 const base::WorkContext& work) -> base::Result<Chain> {
            RunReader reader(view, work);
            session::why::ChainOptions options;
            options.terms = kTermsListed;
            SONDE_ASSIGN(Chain chain, session::followChain(view, place, reader, reference, false, options, work));
            for (Explanation& hop : chain.hops) hop.all.reset();
            return chain;
        },
        [this, isBaseline](base::Result<Chain> found) {
            if (found) takeChain(std::move(*found), isBaseline);
            else if (found.error().kind != base::ErrorKind::Cancelled) fail(found.error());
            Q_EMIT changed();
        });
}

void Why::takeChain(Chain chain, bool isBaseline) {
    m_trail.resize(static_cast<std::size_t>(m_at) + 1);
    for (std::size_t i = 1; i < chain.hops.size(); ++i)
        take(m_trail.emplace_back(Hop{chain.hops[i].place}), std::move(chain.hops[i]));
    const std::size_t first = m_trail.size() - chain.hops.size();
    for (std::size_t i = 0; i < chain.references.size(); ++i) {
        m_trail[first + i].reference = chain.references[i];
        m_trail[first + i].isBaseline = isBaseline;
        m_trail[first + i].isOrigin = false;
    }
    m_at = static_cast<int>(m_trail.size()) - 1;
    m_trail.back().end = QString::fromStdString(chain.end);
    m_trail.back().isOrigin = chain.isOrigin;
    show(current()->place);
}

void Why::trace() {
    look(
        Step::Trace,
        [document = m_session.document(), place = m_trail.front().place](
            const View& view, const base::WorkContext& work) -> base::Result<Traced> {
            RunReader reader(view, work);
            Traced traced;
            SONDE_ASSIGN(traced.field, session::why::receptiveField(*document->graph, place, reader, work));
            SONDE_ASSIGN(traced.contributions, session::why::contributions(*document->graph, place, reader, {}, work));
            return traced;
        },
        [this](base::Result<Traced> found) {
            if (found) {
                m_field = std::move(found->field);
                m_contributions = std::move(found->contributions);
            } else {
                m_traceError = found.error();
            }
            Q_EMIT changed();
            Q_EMIT fieldChanged();
        });
}

const Box* Why::fieldOf(NodeId node) const {
    if (!m_field) return nullptr;
    const auto found = std::ranges::find(m_field->nodes, node, &Box::node);
    return found == m_field->nodes.end() ? nullptr : &*found;
}

const Share* Why::shareOf(NodeId node) const {
    if (!m_contributions) return nullptr;
    const auto found = std::ranges::find(m_contributions->inputs, node, &Share::node);
    return found == m_contributions->inputs.end() ? nullptr : &*found;
}

}  // namespace sonde::context
