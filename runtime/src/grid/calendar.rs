//! The dates from which files count their times, in the calendars of the CF conventions.
//!
//! Two files may count from different dates of one calendar; then the times of one are brought to the date of the other. Dates
//! of different calendars have no distance.

use std::fmt;

/// A calendar, by its rule for the lengths of months and years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calendar {
    /// Julian until the 4th of October 1582, Gregorian from the next day on, which is the 15th.
    Standard,
    ProlepticGregorian,
    Julian,
    /// Years of 365 days.
    NoLeap,
    /// Years of 366 days.
    AllLeap,
    /// Months of 30 days.
    Equal,
}

/// The names of calendars.
#[rustfmt::skip]
const NAMES: &[(&str, Calendar)] = &[
    ("standard",            Calendar::Standard),
    ("gregorian",           Calendar::Standard),
    ("proleptic_gregorian", Calendar::ProlepticGregorian),
    ("julian",              Calendar::Julian),
    ("noleap",              Calendar::NoLeap),
    ("365_day",             Calendar::NoLeap),
    ("all_leap",            Calendar::AllLeap),
    ("366_day",             Calendar::AllLeap),
    ("360_day",             Calendar::Equal),
];

/// The first day of the Gregorian calendar, counted as [`gregorian`] and [`julian`] do.
const FIRST_GREGORIAN: i64 = gregorian(1582, 10, 15);

/// The date from which times are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Since {
    /// As the file has it.
    text: String,
    calendar: Calendar,
    day: i64,
    /// Seconds after midnight, in universal time.
    second: f64,
}

impl Since {
    /// The date of a text such as `2020-01-31 12:00:00 +1:00`, in the calendar of a name; nothing for a name that is empty means
    /// the standard one.
    pub(crate) fn parse(text: &str, calendar: &str) -> Option<Since> {
        let name = calendar.trim().to_ascii_lowercase();
        let calendar = match name.as_str() {
            "" => Calendar::Standard,
            name => NAMES.iter().find(|(known, _)| *known == name)?.1,
        };
        let text = text.trim();
        let (date, rest) = text
            .split_once([' ', 'T', 't'])
            .map_or((text, ""), |(date, rest)| (date, rest.trim()));
        let (sign, date) = date.strip_prefix('-').map_or((1, date), |date| (-1, date));
        let mut numbers = date.split('-').map(|word| word.parse::<i64>().ok());
        let year = sign * numbers.next()??;
        let [month, day] = [
            numbers.next().unwrap_or(Some(1))?,
            numbers.next().unwrap_or(Some(1))?,
        ];
        let is_date =
            (1..=12).contains(&month) && (1..=31).contains(&day) && year.abs() < 1_000_000;
        if !is_date || numbers.next().is_some() {
            return None;
        }
        Some(Since {
            text: text.to_string(),
            calendar,
            day: calendar.day(year, month, day),
            second: second_of_day(rest)?,
        })
    }

    /// The seconds from another date to this one.
    ///
    /// # Errors
    /// The dates are of different calendars.
    pub fn seconds_after(&self, other: &Since) -> Result<f64, String> {
        if !self.shares_calendar(other) {
            return Err(format!(
                "times are counted from {self} and from {other}, in different calendars"
            ));
        }
        Ok((self.day - other.day) as f64 * 86400.0 + (self.second - other.second))
    }

    fn shares_calendar(&self, other: &Since) -> bool {
        // From its first day on, the Gregorian calendar is the standard one.
        let is_gregorian = |since: &Since| match since.calendar {
            Calendar::Standard | Calendar::ProlepticGregorian => since.day >= FIRST_GREGORIAN,
            _ => false,
        };
        self.calendar == other.calendar || is_gregorian(self) && is_gregorian(other)
    }
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = NAMES.iter();
        let name = names.find(|(_, calendar)| *calendar == self.calendar);
        write!(f, "{} ({})", self.text, name.map_or("", |(name, _)| name))
    }
}

impl Calendar {
    /// The number of a day.
    fn day(self, year: i64, month: i64, day: i64) -> i64 {
        let before = |lengths: [i64; 12]| lengths[..(month - 1) as usize].iter().sum::<i64>() + day;
        let of_february = |days: i64| [31, days, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        match self {
            Calendar::Standard => match gregorian(year, month, day) {
                number if number >= FIRST_GREGORIAN => number,
                _ => julian(year, month, day),
            },
            Calendar::ProlepticGregorian => gregorian(year, month, day),
            Calendar::Julian => julian(year, month, day),
            Calendar::NoLeap => 365 * year + before(of_february(28)),
            Calendar::AllLeap => 366 * year + before(of_february(29)),
            Calendar::Equal => 360 * year + before([30; 12]),
        }
    }
}

/// Days of a date of the Julian calendar. Years are taken to begin in March, so that a leap day is the last of its year.
const fn julian(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = from_march(year, month);
    365 * year + year.div_euclid(4) + (153 * month + 2) / 5 + day - 2
}

/// The number of the same day, by its date of the Gregorian calendar.
const fn gregorian(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = from_march(year, month);
    let leap = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap + (153 * month + 2) / 5 + day
}

/// Year and month, counted from 0, of years that begin in March.
const fn from_march(year: i64, month: i64) -> (i64, i64) {
    if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    }
}

/// Seconds after midnight of a time such as `12:30:00.5 +1:00`, in universal time.
fn second_of_day(text: &str) -> Option<f64> {
    let text = text
        .trim_end_matches(['Z', 'z'])
        .trim_end_matches("UTC")
        .trim_end_matches("GMT")
        .trim();
    let (time, zone) = match text.rfind(['+', '-']) {
        Some(at) => (text[..at].trim(), Some(&text[at..])),
        None => match text.split_once(' ') {
            Some((time, zone)) => (time, Some(zone.trim())),
            None => (text, None),
        },
    };
    let clock = |text: &str| -> Option<f64> {
        let parts = text.split(':').map(|word| word.parse::<f64>().ok());
        let parts: Vec<f64> = parts.collect::<Option<_>>()?;
        let fits = parts.len() <= 3 && parts.iter().all(|x| (0.0..=99.0).contains(x));
        fits.then(|| {
            parts
                .iter()
                .zip([3600.0, 60.0, 1.0])
                .map(|(x, unit)| x * unit)
                .sum()
        })
    };
    let second = if time.is_empty() { 0.0 } else { clock(time)? };
    let east = match zone {
        None => 0.0,
        Some(zone) => match zone.strip_prefix('-') {
            Some(zone) => -clock(zone)?,
            None => clock(zone.trim_start_matches('+'))?,
        },
    };
    Some(second - east)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(text: &str, calendar: &str) -> Since {
        Since::parse(text, calendar).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn dates_are_days_apart_by_their_calendar() {
        // Days between two dates, known from other programs.
        for (calendar, from, to, days) in [
            ("standard", "1970-01-01", "2020-01-01", 18262),
            ("gregorian", "2000-02-28", "2000-03-01", 2),
            ("standard", "1582-10-04", "1582-10-15", 1),
            ("proleptic_gregorian", "1582-10-04", "1582-10-15", 11),
            ("proleptic_gregorian", "0001-01-01", "1970-01-01", 719_162),
            ("julian", "1900-02-28", "1900-03-01", 2),
            ("proleptic_gregorian", "1900-02-28", "1900-03-01", 1),
            ("noleap", "2000-02-28", "2000-03-01", 1),
            ("365_day", "1850-01-01", "2000-01-01", 54750),
            ("all_leap", "2001-01-01", "2002-01-01", 366),
            ("360_day", "2000-01-30", "2000-03-01", 31),
        ] {
            let (from, to) = (since(from, calendar), since(to, calendar));
            let seconds = to.seconds_after(&from).unwrap();
            assert_eq!(
                seconds,
                f64::from(days) * 86400.0,
                "{calendar}: {from} to {to}"
            );
        }
    }

    #[test]
    fn times_of_day_and_zones_count() {
        let day = since("2020-01-01", "");
        for (text, seconds) in [
            ("2020-01-01 00:00:00", 0.0),
            ("2020-1-1 6:30", 23400.0),
            ("2020-01-01T12:00:00Z", 43200.0),
            ("2020-01-01 00:00:00.5 UTC", 0.5),
            ("2020-01-01 12:00:00 +1:00", 39600.0),
            ("2020-01-01 00:00:00 -6", 21600.0),
            ("2019-12-31 23:59:59", -1.0),
        ] {
            assert_eq!(since(text, "").seconds_after(&day), Ok(seconds), "{text}");
        }
        for wrong in [
            "",
            "yesterday",
            "2020-13-01",
            "2020-01-01 noon",
            "2020-01-01-01",
        ] {
            assert_eq!(Since::parse(wrong, ""), None, "{wrong}");
        }
        assert_eq!(Since::parse("2020-01-01", "martian"), None);
    }

    #[test]
    fn calendars_do_not_mix() {
        let standard = since("2020-01-01", "standard");
        let proleptic = since("2020-01-02", "proleptic_gregorian");
        assert_eq!(proleptic.seconds_after(&standard), Ok(86400.0));
        let error = since("2020-01-01", "noleap").seconds_after(&standard);
        assert!(error.unwrap_err().contains("different calendars"));
        let old = since("1500-01-01", "proleptic_gregorian");
        assert!(old.seconds_after(&standard).is_err());
    }
}
