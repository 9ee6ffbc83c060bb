#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/base/number_text.h"
#include "core/base/xml_text.h"
#include "core/session/curve/curve.h"

namespace sonde::session {

namespace {

constexpr double kWidth = 640, kPlotHeight = 200, kLeft = 84, kRight = 20, kHead = 44, kGap = 64, kFoot = 44;

/// 1, 2 or 5 times a power of ten, so that there are 4 to 10 of them in the span.
double axisStep(double span) {
    const double power = std::pow(10, std::floor(std::log10(span / 4)));
    for (const double part : {5.0, 2.0})
        if (span / (part * power) >= 4) return part * power;
    return power;
}

/// A span of numbers on a length of the picture.
struct Axis {
    double low = 0, high = 1, begin = 0, end = 1;

    double at(double value) const { return begin + (value - low) / (high - low) * (end - begin); }
    template <typename Draw>
    void eachTick(const Draw& draw) const {
        const double step = axisStep(high - low);
        for (double i = std::ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); ++i)
            draw(i * step + 0.0);  // no negative zero
    }
};

struct PlottedValue {
    double at, value, low, high;
};

class SvgPlot {
  public:
    explicit SvgPlot(const Curve& curve) : m_curve(curve) {
        m_x = {curve.points.front().at, curve.points.front().at, kLeft, kWidth - kRight};
        for (const CurvePoint& point : curve.points)
            m_x.low = std::min(m_x.low, point.at), m_x.high = std::max(m_x.high, point.at);
        // From 0, unless all are far from it.
        if (m_x.low > 0 && m_x.low < 0.5 * m_x.high) m_x.low = 0;
        if (m_x.low == m_x.high) m_x.low -= 1, m_x.high += 1;
    }

    std::string picture() {
        const double height = kHead + 2 * kPlotHeight + kGap + kFoot;
        m_svg = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
            "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n",
            kWidth, height);
        m_svg += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n", kWidth, height);
        text(kLeft, 18, "start", m_curve.title + ": time and memory against " + m_curve.what, "font-weight=\"bold\"");
        std::vector<PlottedValue> times, values;
        for (const CurvePoint& point : m_curve.points) {
            times.push_back(
                {point.at, milliseconds(point.medianNs), milliseconds(point.minNs), milliseconds(point.maxNs)});
            const double mebibytes = static_cast<double>(point.valueBytes) / (1 << 20);
            values.push_back({point.at, mebibytes, mebibytes, mebibytes});
        }
        add(times, kHead, fmt::format("ms, median of {} runs, least to most", m_curve.repeat));
        add(values, kHead + kPlotHeight + kGap, "MiB that values take at a time");
        text((kLeft + kWidth - kRight) / 2, height - 8, "middle", m_curve.key);
        return m_svg + "</svg>\n";
    }

  private:
    static double milliseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

    void text(double x, double y, const char* anchor, const std::string& what, const char* style = "") {
        m_svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" {}>{}</text>\n", x, y, anchor, style,
                             base::xmlText(what));
    }
    void line(double x1, double y1, double x2, double y2, const char* colour) {
        m_svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1,
                             x2, y2, colour);
    }

    void add(const std::vector<PlottedValue>& values, double top, const std::string& unit) {
        Axis y{0, 0, top + kPlotHeight, top};
        for (const PlottedValue& each : values) y.high = std::max(y.high, each.high);
        if (y.high <= 0) y.high = 1;
        text(kLeft, top - 8, "start", unit);
        y.eachTick([&](double value) {
            line(kLeft, y.at(value), kWidth - kRight, y.at(value), "#d8d8d8");
            text(kLeft - 8, y.at(value) + 4, "end", base::roundedText(value, 6));
        });
        m_x.eachTick([&](double value) {
            line(m_x.at(value), y.begin, m_x.at(value), y.begin + 4, "#404040");
            text(m_x.at(value), y.begin + 18, "middle", base::roundedText(value, 6));
        });
        line(kLeft, y.begin, kWidth - kRight, y.begin, "#404040");
        std::string path;
        for (const PlottedValue& each : values) {
            path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", m_x.at(each.at), y.at(each.value));
            if (each.low < each.high)
                line(m_x.at(each.at), y.at(each.low), m_x.at(each.at), y.at(each.high), "#8ab4e8");
        }
        m_svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"#1558a8\" stroke-width=\"1.5\"/>\n", path);
        for (const PlottedValue& each : values)
            m_svg += fmt::format(
                "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#1558a8\"><title>{} {}: {}"
                "</title></circle>\n",
                m_x.at(each.at), y.at(each.value), base::xmlText(m_curve.key), base::roundedText(each.at, 6),
                base::roundedText(each.value, 4));
    }

    const Curve& m_curve;
    Axis m_x;
    std::string m_svg;
};

}  // namespace

std::string curveSvg(const Curve& curve) { return curve.points.empty() ? std::string() : SvgPlot(curve).picture(); }

}  // namespace sonde::session
